package profile

import (
	"time"

	sim "github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// Dell is a PowerEdge R750 with iDRAC9.
func Dell() Profile {
	return Profile{
		Name: "Dell PowerEdge R750", SessionTimeout: 30 * time.Minute, MaxSessions: 8, AccountID: "2", RetryInterval: 5 * time.Second,
		Policy: accounts.Policy{MaxLength: 40},
		System: sim.System{
			ID: "System.Embedded.1", ManagerID: "iDRAC.Embedded.1", ChassisID: "System.Embedded.1", UUID: "4c4c4544-0000-4000-8000-000000000750",
			Vendor: sim.Dell, Product: "Integrated Dell Remote Access Controller", Manufacturer: "Dell Inc.", Model: "PowerEdge R750", ManagerModel: "15G Monolithic",
			Firmware: sim.Firmware{BMC: "6.00.30.00", BIOS: "1.9.2", NICs: map[string]string{"NIC.Embedded.1": "22.00.6"}},
			Licences: []sim.Licence{{Name: "iDRAC9 x5 Enterprise License", Type: "Perpetual"}}, Slots: slots(both, "1", "2"),
			Storage: []sim.Storage{
				{ID: "RAID.Slot.1-1", Name: "PERC H755", RAIDTypes: []string{"RAID0", "RAID1", "RAID5", "RAID6", "RAID10", "RAID50", "RAID60"}, Tasks: true, Drives: disks("Disk.Bay.", 4, 960_197_124_096)},
				{ID: "AHCI.Slot.2-1", Name: "BOSS-S1", RAIDTypes: []string{}, Drives: disks("Disk.Direct.", 2, 240_057_409_536)},
			},
			Quirks: always(sim.AccountSlots, sim.NoBootOnceList, sim.NoBootProgress, sim.HTTPBootNoURI, sim.EventsDisabled, sim.AlertsOnly, sim.RegistryOther,
				sim.OddTimes, sim.PushUpdates, sim.SubscriptionEnds),
		},
	}
}

// HPE is a ProLiant DL385 Gen10 Plus v2 with iLO 5.
func HPE() Profile {
	return Profile{
		Name: "HPE ProLiant DL385 Gen10 Plus v2", SessionTimeout: 30 * time.Second, RetryInterval: 30 * time.Second, Policy: accounts.Policy{MinLength: 8},
		System: sim.System{
			ID: "1", UUID: "30373237-0000-4000-8000-000000000385", Vendor: sim.HPE, Product: "ProLiant DL385 Gen10 Plus v2", Manufacturer: "HPE",
			Model: "ProLiant DL385 Gen10 Plus v2", ManagerModel: "iLO 5", Firmware: sim.Firmware{BMC: "iLO 5 v2.72", BIOS: "A42 v2.56", NICs: map[string]string{"DC080000": "20.22.41"}},
			Licences: []sim.Licence{{Name: "iLO Advanced", Type: "Perpetual"}},
			Slots:    append(slots([]string{"Floppy", "USBStick"}, "1"), slots(disc, "2")...),
			Storage:  []sim.Storage{{ID: "DE00C000", Name: "Smart Array", RAIDTypes: []string{"RAID0", "RAID1"}, Drives: disks("", 2, 480_103_981_056)}},
			Quirks: always(sim.MediaOnManager, sim.EjectNeedsBody, sim.NoBootOnceList, sim.NoBootProgress, sim.HTTPBootNoURI, sim.NoSSE, sim.RetryPolicyRefused,
				sim.BIOSNoApplyTimes, sim.BIOSPendingCopy, sim.VolumesReadOnly, sim.StorageAfterPOST, sim.AdaptersAfterPOST, sim.Sparse, sim.AccountMessage,
				sim.NoThermalSubsystem, sim.NoJobService, sim.PushUpdates),
		},
	}
}

// Lenovo is a ThinkSystem SR670 V2 with XCC.
func Lenovo() Profile {
	return Profile{
		Name: "Lenovo ThinkSystem SR670 V2", SessionTimeout: 5 * time.Minute, MaxSessions: 16, RetryInterval: time.Minute,
		Policy: accounts.Policy{MinLength: 10, MaxLength: 32, Reuse: 5, MinAge: time.Hour},
		System: sim.System{
			ID: "1", UUID: "2b9f0000-0000-4000-8000-000000000670", Vendor: sim.Lenovo, Product: "ThinkSystem SR670 V2", Manufacturer: "Lenovo", Model: "7Z23CTO1WW",
			ManagerModel: "Lenovo XClarity Controller", Firmware: sim.Firmware{BMC: "TGBT42S 2.83 2023-07-05", BIOS: "U8E122J-1.51", NICs: map[string]string{"slot-4": "26.33.10"}},
			Licences: []sim.Licence{{Name: "XCC_Platinum", Type: "Perpetual"}, {Name: "XCC_Advanced", Type: "Perpetual"}},
			Slots:    append(slots(both, "EXT1", "EXT2", "EXT3", "EXT4"), slots(both, "RDOC1", "RDOC2", "Remote1", "Remote2", "Remote3", "Remote4")...),
			Quirks: always(sim.MediaByPatch, sim.MediaPatchNeedsInserted, sim.NoPersistentBoot, sim.NoBootProgress, sim.SettingsWithoutBoot, sim.EventTypesRefused,
				sim.ETagRequired, sim.LogAbsentWhenEmpty, sim.BIOSPendingElsewhere, sim.BIOSPendingCopy, sim.PushUpdates, sim.InventoryPending, sim.TaskGoneAfterRead),
		},
	}
}

// Supermicro is an X13 board (SYS-821GE).
func Supermicro() Profile {
	return Profile{
		Name: "Supermicro SYS-821GE-TNHR", SessionTimeout: 5 * time.Minute, AccountID: "2", RetryInterval: time.Minute,
		Policy: accounts.Policy{MinLength: 8, MaxLength: 20, Threshold: 3, Lockout: 30 * time.Second},
		System: sim.System{
			ID: "1", UUID: "39000000-0000-4000-8000-000000000821", Vendor: sim.Supermicro, Manufacturer: "Supermicro", Model: "SYS-821GE-TNHR", ManagerModel: "ASPEED",
			Firmware: sim.Firmware{BMC: "01.01.01", BIOS: "1.3"}, Slots: slots(both, "VirtualMedia1", "VirtualMedia2", "VirtualMedia3"),
			Licences: []sim.Licence{{Name: "SFT-OOB-LIC"}, {Name: "SFT-DCMS-SINGLE"}},
			Quirks: always(sim.VendorHidden, sim.MediaOnManager, sim.MediaNoEjectWhileEmpty, sim.UsbCdOnly, sim.NoBootOnceList, sim.BootFallsToOnce, sim.HTTPBootNoURI,
				sim.BootProgressStuck, sim.NoSSE, sim.BIOSNoApplyTimes, sim.BIOSPendingElsewhere, sim.BIOSPendingBare, sim.SettingsLicence, sim.SecureBootLicence,
				sim.InventoryRepeats, sim.NoJobService, sim.NoThermalSubsystem),
		},
	}
}

// DGX is an NVIDIA DGX H100 with a BMC of AMI's.
func DGX() Profile {
	return Profile{
		Name: "NVIDIA DGX H100", SessionTimeout: 30 * time.Second, AccountID: "2", RetryInterval: time.Minute,
		Policy: accounts.Policy{MinLength: 13, MaxLength: 20, Threshold: 5, Lockout: 30 * time.Second},
		System: sim.System{
			ID: "DGX", ManagerID: "BMC", ChassisID: "DGX", UUID: "00000000-0000-4000-8000-0000000000d9", Vendor: sim.AMI, Product: "AMI Redfish Server",
			Manufacturer: "NVIDIA", Model: "DGXH100", ManagerModel: "410810600", Firmware: sim.Firmware{BMC: "23.11.20", BIOS: "1.01.03"}, Slots: []sim.Slot{},
			Quirks: always(sim.MediaOnManager, sim.NoBootTargets, sim.NoBootOnceList, sim.BootNeedsAll, sim.SettingsWithoutBoot, sim.EventTypesRefused,
				sim.AccountETagNeeded, sim.BIOSNoApplyTimes, sim.BIOSPendingElsewhere, sim.ForeignSystem, sim.Paged, sim.NoJobService, sim.HealthMissing),
		},
	}
}

// OpenBMC is an NVIDIA GB200 tray with OpenBMC.
func OpenBMC() Profile {
	return Profile{
		Name: "NVIDIA GB200 with OpenBMC", SessionTimeout: 30 * time.Minute, MaxSubscriptions: 20, MaxStreams: 10, RetryInterval: 30 * time.Second,
		Policy: accounts.Policy{MinLength: 8, MaxLength: 20},
		System: sim.System{
			ID: "System_0", ManagerID: "BMC_0", ChassisID: "Chassis_0", UUID: "00000000-0000-4000-8000-0000000000b2", Vendor: sim.NVIDIA, Product: "GB200 NVL",
			Manufacturer: "NVIDIA", Model: "GB200 NVL", ManagerModel: "OpenBmc", Firmware: sim.Firmware{BMC: "GB200Nvl-24.12-8", BIOS: "01.03.01"},
			Slots: slots(both, "USB1", "USB2"), Storage: []sim.Storage{},
			Quirks: always(sim.MediaOnManager, sim.MediaHTTPSOnly, sim.SettingsWithoutBoot, sim.EventTypesRefused, sim.SubscriptionBounds, sim.SubscriptionEnds,
				sim.NoSimpleUpdate, sim.PushUpdates, sim.RegistryNull, sim.RegistryNegative, sim.TaskMonitorPath, sim.EventBare, sim.BIOSNoApplyTimes, sim.NoJobService),
		},
	}
}
