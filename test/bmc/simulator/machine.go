package simulator

import (
	"context"
	"maps"
)

// Machine is what stands behind a system. Each method is called before the
// change is made, with the whole state as it will be; an error refuses the change,
// which the Redfish client sees as status 500 with that text. The calls for one
// system come one after the other. They must return at once and let the machine
// work afterwards: the client waits. They may call the Server.
type Machine interface {
	// PowerChanged is a reset request that does something. A request to switch on
	// what is on, or off what is off, is not told.
	PowerChanged(ctx context.Context, state State, reset ResetType) error
	// MediaChanged is a virtual medium that was inserted or ejected; slot is its
	// Redfish Id. Ejecting an empty slot is told too.
	MediaChanged(ctx context.Context, state State, slot string) error
	// BootChanged is a new boot override, boot mode or secure boot setting.
	BootChanged(ctx context.Context, state State) error
}

// State is what a machine needs to know of its system.
type State struct {
	// ID is the system's Redfish Id, UUID and Name as it was added with.
	ID, UUID, Name string
	// Sequence grows by one with each change told to the machine.
	Sequence int
	// Power is On or Off: the state that the last request asked for.
	Power PowerState
	// Boot is the boot override; Media are the inserted media by slot.
	Boot       Boot
	Media      map[string]Medium
	SecureBoot bool
}

func (s State) clone() State {
	s.Media = maps.Clone(s.Media)
	return s
}

// PowerState is Redfish's Resource.PowerState.
type PowerState string

// The power states.
const (
	On          PowerState = "On"
	Off         PowerState = "Off"
	PoweringOn  PowerState = "PoweringOn"
	PoweringOff PowerState = "PoweringOff"
)

// ResetType is Redfish's Resource.ResetType.
type ResetType string

// The reset types of a system.
const (
	ResetOn               ResetType = "On"
	ResetForceOn          ResetType = "ForceOn"
	ResetForceOff         ResetType = "ForceOff"
	ResetGracefulShutdown ResetType = "GracefulShutdown"
	ResetGracefulRestart  ResetType = "GracefulRestart"
	ResetForceRestart     ResetType = "ForceRestart"
	ResetPowerCycle       ResetType = "PowerCycle"
	ResetPushPowerButton  ResetType = "PushPowerButton"
	ResetNmi              ResetType = "Nmi"
)

// Boot is the boot override of a system.
type Boot struct {
	// Target is None, Pxe, Cd, UsbCd, Usb, Floppy, Hdd, BiosSetup or UefiHttp.
	Target string
	// Enabled is Disabled, Once or Continuous.
	Enabled string
	// Mode is UEFI or Legacy.
	Mode string
	// HTTPURI is the image of a UEFI HTTP boot.
	HTTPURI string
}

// Medium is an inserted virtual medium.
type Medium struct {
	// Image is the URL as it was given.
	Image          string
	WriteProtected bool
}
