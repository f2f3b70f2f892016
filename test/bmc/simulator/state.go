package simulator

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// system is a machine with its BMC. The server's lock guards it but for turn.
type system struct {
	System // as it was added, completed

	// turn orders the changes that the machine is asked about.
	turn sync.Mutex

	state      State
	delays     Delays
	quirks     map[Quirk]int
	scopes     map[Quirk]string // the beginning of the paths at which a quirk is on
	epoch      int              // grows with each switch of the power and ends what was under way
	transition PowerState       // shown while a switch takes effect, else empty
	progress   string           // BootProgress.LastState
	bios       bios
	secure     secureBoot
	storage    []*storage
	firmware   map[string]string // version by component
	log        journal
	ejected    map[string]string  // the last image of slots that are empty
	busy       int                // requests under way
	offset     string             // of the manager's clock, as it was set
	network    network            // the manager's
	parts      map[Part]Condition // those that were set
	restarting time.Time          // until then the BMC answers 503
}

// Defaults of a system.
const (
	defaultVersion    = "1.0.0"
	defaultProcessors = 2
	defaultMemoryGiB  = 64
	defaultSpeedMbps  = 10_000
	uefi, legacy      = "UEFI", "Legacy"
)

// newSystem completes a description.
func newSystem(d System, delays Delays) (*system, error) {
	if d.ID == "" || strings.ContainsAny(d.ID, "/?#% ") {
		return nil, fmt.Errorf("a system needs an ID that can stand in a path, not %q", d.ID)
	}
	for quirk := range d.Quirks {
		if _, ok := known[quirk]; !ok {
			return nil, fmt.Errorf("system %s: there is no quirk %q: see simulator.Quirks", d.ID, quirk)
		}
	}
	d.ManagerID, d.ChassisID = cmp.Or(d.ManagerID, d.ID), cmp.Or(d.ChassisID, d.ID)
	if d.Slots == nil {
		d.Slots = DefaultSlots()
	}
	d.UUID, d.Name = cmp.Or(d.UUID, d.ID), cmp.Or(d.Name, d.ID)
	d.Manufacturer, d.Model = cmp.Or(d.Manufacturer, "ACME"), cmp.Or(d.Model, "Simulated Server")
	d.SerialNumber, d.Health = cmp.Or(d.SerialNumber, "SN-"+d.ID), cmp.Or(d.Health, "OK")
	d.Processors, d.MemoryGiB = cmp.Or(d.Processors, defaultProcessors), cmp.Or(d.MemoryGiB, defaultMemoryGiB)
	d.NICs = slices.Clone(d.NICs)
	for i := range d.NICs {
		d.NICs[i].SpeedMbps = cmp.Or(d.NICs[i].SpeedMbps, defaultSpeedMbps)
	}
	if d.BIOS == nil {
		d.BIOS = DefaultBIOS()
	}
	if d.Storage == nil {
		d.Storage = DefaultStorage()
	}
	if d.Delays != nil {
		delays = *d.Delays
	}
	sys := &system{System: d, delays: delays, quirks: map[Quirk]int{}, progress: "None"}
	maps.Copy(sys.quirks, d.Quirks)
	sys.state = State{
		ID: d.ID, UUID: d.UUID, Name: d.Name, Power: cmp.Or(d.Power, Off), SecureBoot: d.SecureBoot, Media: map[string]Medium{},
		Boot: Boot{Target: "None", Enabled: "Disabled", Mode: uefi},
	}
	if d.Legacy {
		sys.state.Boot.Mode = legacy
	}
	if sys.state.Power == On {
		sys.progress = osRunning
	}
	sys.secure = secureBoot{mode: "UserMode", current: d.SecureBoot}
	sys.firmware = map[string]string{ComponentBIOS: cmp.Or(d.Firmware.BIOS, defaultVersion), ComponentBMC: cmp.Or(d.Firmware.BMC, defaultVersion)}
	for id, version := range d.Firmware.NICs {
		sys.firmware[ComponentNIC+id] = version
	}
	var err error
	if sys.bios, err = newBIOS(*d.BIOS); err != nil {
		return nil, fmt.Errorf("system %s: %w", d.ID, err)
	}
	if sys.storage, err = newStorage(d.Storage); err != nil {
		return nil, fmt.Errorf("system %s: %w", d.ID, err)
	}
	return sys, nil
}

// idIn is the Id in Systems, Managers or Chassis.
func (sys *system) idIn(home string) string {
	switch home {
	case "Managers":
		return sys.ManagerID
	case "Chassis":
		return sys.ChassisID
	}
	return sys.ID
}

// has says whether a quirk of shape is on; the lock is held. A missing system
// has none.
func (sys *system) has(q Quirk) bool { return sys != nil && sys.quirks[q] != 0 }

// strikes says whether a quirk strikes now, and counts it; the lock is held.
func (sys *system) strikes(q Quirk) bool {
	if !sys.has(q) {
		return false
	}
	if sys.quirks[q] > 0 {
		sys.quirks[q]--
	}
	return true
}

// change makes a change of a system's state: edit prepares it, the machine is
// asked by tell, and then it holds. The lock is not held. Edit runs twice, since
// the machine may have acted by itself meanwhile, and must give the same result.
func (s *Server) change(ctx context.Context, sys *system, edit func(*State) error, tell func(Machine, State) error) error {
	sys.turn.Lock()
	defer sys.turn.Unlock()
	s.mu.Lock()
	next := sys.state.clone()
	err := edit(&next)
	next.Sequence++
	told := sys.told(next)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	if sys.Machine != nil {
		if err := tell(sys.Machine, told); err != nil {
			return fault(http.StatusInternalServerError, generalError, "%s", err)
		}
	}
	if err := ctx.Err(); err != nil {
		s.opts.Log.Debug("the client went away during a change", "system", sys.ID, "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := sys.state.clone()
	if err := edit(&now); err != nil {
		return err
	}
	now.Sequence = next.Sequence
	sys.state = now
	return nil
}

// told is the state as the machine behind the system takes it; the lock is held.
func (sys *system) told(state State) State {
	if state.Boot.Target == "Cd" && sys.has(CDIsADrive) {
		state.Boot.Target = "None" // the drive is empty
	}
	return state
}

// newUUID is a random UUID.
func newUUID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

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
