package simulator

import (
	"fmt"
	"time"
)

// System describes a machine with its BMC as it is added. Only ID is needed;
// what is empty is filled with a plausible server, see [Server.AddSystem].
type System struct {
	// ID is the last element of /redfish/v1/Systems/ID. Usually the UUID.
	ID string
	// ManagerID and ChassisID are those of its manager and chassis; ID when empty.
	ManagerID, ChassisID string
	// UUID is ID, and Name is ID, when empty.
	UUID, Name string

	Manufacturer, Model, SerialNumber, AssetTag string
	// Vendor is what the service root says and whose OEM parts there are; empty is
	// ACME, which has none.
	Vendor Vendor
	// Product is what the service root shows; ManagerModel is the BMC's model.
	Product, ManagerModel string
	// Slots are the virtual media; nil is [DefaultSlots], an empty list none.
	Slots []Slot
	// Licences are shown where the vendor has them.
	Licences []Licence
	// ClockSkew is how far the BMC's clock is ahead.
	ClockSkew time.Duration
	// Power is the state at the start; Off when empty.
	Power PowerState
	// Health is OK, Warning or Critical; OK when empty.
	Health string
	// Processors is the number of sockets, MemoryGiB the size of the memory;
	// 2 and 64 when zero.
	Processors, MemoryGiB int
	// NICs are the Ethernet interfaces.
	NICs []NIC
	// BIOS are its settings; nil is [DefaultBIOS].
	BIOS *BIOS
	// Storage are the storage subsystems; nil is [DefaultStorage], an empty list none.
	Storage []Storage
	// Firmware are the versions.
	Firmware Firmware
	// SecureBoot is the setting at the start, Legacy the boot mode instead of UEFI.
	SecureBoot, Legacy bool
	// Machine stands behind the system; nil agrees to everything.
	Machine Machine
	// Quirks are switched on, with the number of times that they strike.
	Quirks map[Quirk]int
	// Delays replace those of the Server, unless nil.
	Delays *Delays
}

// Vendor is who made a BMC, as the service root shows it.
type Vendor string

// The vendors with OEM parts.
const (
	Dell       Vendor = "Dell"
	HPE        Vendor = "HPE"
	Lenovo     Vendor = "Lenovo"
	Supermicro Vendor = "Supermicro"
	AMI        Vendor = "AMI"
	NVIDIA     Vendor = "NVIDIA"
)

// Slot is a place for a virtual medium.
type Slot struct {
	ID string
	// Types are what it can hold (MediaTypes), such as CD and DVD.
	Types []string
}

// Licence is a licence of the BMC.
type Licence struct {
	// Name is as the vendor has it, such as iLO Advanced or SFT-DCMS-SINGLE.
	Name string
	// Type is Perpetual, Evaluation and the like.
	Type string
	// Expired licences are shown, and do not count.
	Expired bool
}

// NIC is an Ethernet interface.
type NIC struct {
	// MAC is the hardware address with colons; it is the resource's Id too.
	MAC string
	// SpeedMbps is 10,000 when zero.
	SpeedMbps int
}

// BIOS are the settings of a system's firmware.
type BIOS struct {
	// Registry describes the settings.
	Registry *Registry
	// Attributes are the current values; missing ones are the registry's defaults.
	// Values are string, int or bool.
	Attributes map[string]any
}

// Storage is a storage subsystem with one controller.
type Storage struct {
	ID, Name string
	// RAIDTypes are what the controller can do, such as RAID1; empty makes it a
	// plain host bus adapter.
	RAIDTypes []string
	// ApplyTimes are the times at which volumes can be made and deleted. Nil is
	// Immediate and OnReset.
	ApplyTimes []ApplyTime
	// Tasks makes immediate work a task that takes Delays.Task; without it,
	// immediate work is done when the request is answered.
	Tasks  bool
	Drives []Drive
	// Volumes exist from the start.
	Volumes []Volume
}

// ApplyTime is Redfish's Settings.OperationApplyTime.
type ApplyTime string

// The apply times that the simulator knows.
const (
	Immediate ApplyTime = "Immediate"
	OnReset   ApplyTime = "OnReset"
)

// Drive is a physical disk.
type Drive struct {
	// ID is unique within the system.
	ID                                string
	Model, Manufacturer, SerialNumber string
	MediaType                         string // HDD or SSD; SSD when empty
	Protocol                          string // SAS, SATA or NVMe; SAS when empty
	CapacityBytes                     int64
	// LifeLeft is PredictedMediaLifeLeftPercent; nil is not shown.
	LifeLeft *float64
	// RAIDStatus is what a controller makes of the drive, in Dell's words: Ready,
	// Online, Foreign or NonRAID, which cannot be part of a volume. Ready when empty.
	RAIDStatus string
}

// Volume is a logical disk.
type Volume struct {
	// ID is made when empty.
	ID, Name      string
	RAIDType      string // such as RAID1; empty for a plain disk
	CapacityBytes int64
	Drives        []string // their IDs
}

// Firmware are versions by component.
type Firmware struct {
	BIOS, BMC string // 1.0.0 when empty
	// NICs are network adapters by Id (the component is nic:Id).
	NICs map[string]string
}

// DefaultStorage is the storage of systems that bring none: one RAID controller
// with four disks of 480 GB each, without volumes.
func DefaultStorage() []Storage {
	s := Storage{ID: "RAID.1", Name: "RAID Controller", RAIDTypes: []string{"RAID0", "RAID1", "RAID5", "RAID6", "RAID10"}}
	for i := range defaultDrives {
		id := fmt.Sprintf("Disk.%d", i)
		s.Drives = append(s.Drives, Drive{
			ID: id, Model: "SIM480", Manufacturer: "ACME", SerialNumber: "SER-" + id, MediaType: "SSD", Protocol: "SAS", CapacityBytes: defaultDriveBytes,
		})
	}
	return []Storage{s}
}

const (
	defaultDrives     = 4
	defaultDriveBytes = 480_103_981_056
)
