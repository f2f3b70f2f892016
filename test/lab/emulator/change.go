package emulator

import "errors"

// System is one machine behind the emulated BMC.
type System struct {
	// UUID is the Redfish id: /redfish/v1/Systems/UUID. Lower case.
	UUID string `json:"uuid"`
	// Name is unique among the systems of one emulator.
	Name string `json:"name"`
	// PowerState is what the machine starts with; empty means Off.
	PowerState Power `json:"power_state,omitempty"`
	// NICs are the machine's Ethernet interfaces, shown under EthernetInterfaces.
	NICs []NIC `json:"nics"`
}

// Normalized is the system with every field set that the emulator expects. The
// error says which one only the caller can set.
func (s System) Normalized() (System, error) {
	if s.UUID == "" || s.Name == "" {
		return s, errors.New("a system behind a BMC needs a UUID and a name")
	}
	if s.PowerState == "" {
		s.PowerState = PowerOff
	}
	if s.NICs == nil {
		s.NICs = []NIC{}
	}
	return s, nil
}

// NIC is one Ethernet interface of a [System].
type NIC struct {
	// MAC is the hardware address with colons, lower case.
	MAC string `json:"mac"`
}

// Power is the value of Redfish's PowerState.
type Power string

// The power states that the emulator knows. It has no PoweringOn or PoweringOff.
const (
	PowerOn  Power = "On"
	PowerOff Power = "Off"
)

// Reset is the ResetType of a Redfish power request.
type Reset string

// The reset types that reach the notifier. The emulator refuses others.
const (
	ResetOn               Reset = "On"
	ResetForceOn          Reset = "ForceOn"
	ResetForceOff         Reset = "ForceOff"
	ResetGracefulShutdown Reset = "GracefulShutdown"
	ResetGracefulRestart  Reset = "GracefulRestart"
	ResetForceRestart     Reset = "ForceRestart"
)

// Change says what a [SystemChange] is about.
type Change string

// The kinds of change.
const (
	// ChangePower is a power request; [SystemChange.Reset] has its type.
	ChangePower Change = "power"
	// ChangeBoot is a change of boot device, boot mode, secure boot or HTTP boot address.
	ChangeBoot Change = "boot"
	// ChangeMedia is a virtual medium that was inserted or ejected.
	ChangeMedia Change = "media"
)

// BootDevice is the value of Redfish's BootSourceOverrideTarget. The emulator
// keeps it until it is changed (BootSourceOverrideEnabled is Continuous).
type BootDevice string

// The boot devices that the emulator accepts. An HTTP boot (UefiHttp) arrives
// as Cd with [SystemChange.HTTPBootURI] set and the image in the Cd medium.
const (
	BootHdd BootDevice = "Hdd"
	BootCd  BootDevice = "Cd"
	BootPxe BootDevice = "Pxe"
)

// BootMode is the value of Redfish's BootSourceOverrideMode.
type BootMode string

// The boot modes.
const (
	BootModeUEFI   BootMode = "UEFI"
	BootModeLegacy BootMode = "Legacy"
)

// Media are the slots of virtual media that every system has.
const (
	MediaCd     = "Cd"
	MediaFloppy = "Floppy"
)

// SystemChange is the body of the emulator's PUT to the notifier: the whole
// state of one system as it will be once the notifier has agreed. README.md in
// this folder has the contract.
type SystemChange struct {
	UUID string `json:"uuid"`
	Name string `json:"name"`
	// Sequence grows by one with each change of this system. It starts again
	// when the emulator starts with a new state folder.
	Sequence int    `json:"sequence"`
	Change   Change `json:"change"`
	// Reset is empty unless Change is power.
	Reset      Reset `json:"reset"`
	PowerState Power `json:"power_state"`
	// BootDevice and BootMode are empty until they were set once; a machine
	// then boots from its disk, in UEFI mode.
	BootDevice BootDevice `json:"boot_device,omitempty"`
	BootMode   BootMode   `json:"boot_mode,omitempty"`
	SecureBoot bool       `json:"secure_boot,omitempty"`
	// HTTPBootURI is the last address given for UEFI HTTP boot, or empty.
	HTTPBootURI string `json:"http_boot_uri,omitempty"`
	// Media holds the inserted media by slot (Cd, Floppy). An empty slot is absent.
	Media map[string]Medium `json:"media"`
}

// Medium is an inserted virtual medium.
type Medium struct {
	// Image is the URL that the BMC was given. The emulator has not read it.
	Image          string `json:"image"`
	Inserted       bool   `json:"inserted"`
	WriteProtected bool   `json:"write_protected"`
}
