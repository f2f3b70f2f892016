package validations_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestEligibleDisks(t *testing.T) {
	disk := func(name string, kind wire.DriveType, gb int64, change func(*wire.Disk)) wire.Disk {
		d := wire.Disk{ID: "/dev/" + name, Name: name, Path: "/dev/" + name, DriveType: kind, SizeBytes: gb * 1e9}
		if change != nil {
			change(&d)
		}
		return d
	}
	inventory := &wire.Inventory{Disks: []wire.Disk{
		disk("nvme0n1", wire.DriveTypeSsd, 500, nil),
		disk("sdb", wire.DriveTypeSsd, 200, nil),
		disk("sda", wire.DriveTypeSsd, 200, nil),
		disk("sdc", wire.DriveTypeHdd, 4000, nil),
		disk("small", wire.DriveTypeSsd, 10, nil),
		disk("sr0", wire.DriveTypeOdd, 200, nil),
		disk("usb", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.Removable = true }),
		disk("iso", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.IsInstallationMedia = true }),
		disk("lvm", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.Holders = "dm-0" }),
		disk("member", wire.DriveTypeSsd, 150, func(d *wire.Disk) { d.Holders = "md127"; d.Bootable = true }),
		disk("md127", wire.DriveTypeRaid, 180, nil),
		disk("former", wire.DriveTypeSsd, 300, func(d *wire.Disk) {
			d.InstallationEligibility.NotEligibleReasons = []string{"Disk is removable", "Disk is part of dm-1"}
		}),
		disk("bad", wire.DriveTypeSsd, 200, func(d *wire.Disk) { d.InstallationEligibility.NotEligibleReasons = []string{"Disk is mounted"} }),
	}}
	g := NewWithT(t)
	needs := validations.Requirements{DiskGB: 100}
	var names []string
	for _, d := range validations.Eligible(inventory, needs) {
		names = append(names, d.Name)
	}
	g.Expect(names).To(Equal([]string{"sdc", "md127", "lvm", "sda", "sdb", "former", "nvme0n1", "member", "usb"}),
		"HDD before SSD, then smaller, then by name, then NVMe; members of an array and removable disks last")

	validations.Judge(inventory, needs)
	for _, d := range inventory.Disks {
		g.Expect(d.InstallationEligibility.Eligible).To(Equal(len(d.InstallationEligibility.NotEligibleReasons) == 0), d.Name)
	}
	g.Expect(validations.FindDisk(inventory, "/dev/sdb").Name).To(Equal("sdb"))
	g.Expect(validations.FindDisk(inventory, "")).To(BeNil())
	small := validations.FindDisk(inventory, "/dev/small")
	g.Expect(validations.WhyNot(small, inventory, validations.Requirements{DiskGB: 5})).To(BeEmpty(), "a smaller role takes back what the hub said")
	bad := validations.FindDisk(inventory, "/dev/bad")
	g.Expect(validations.WhyNot(bad, inventory, validations.Requirements{DiskGB: 5})).To(ConsistOf("Disk is mounted"), "but not what the agent said")
}

func TestDrivesByReleaseAndArchitecture(t *testing.T) {
	for name, tc := range map[string]struct {
		kind          wire.DriveType
		version, arch string
		change        func(*wire.Inventory)
		want          string // part of the reason; empty for a disk that can be installed to
	}{
		"RAID":                         {wire.DriveTypeRaid, "4.14", "x86_64", nil, ""},
		"RAID too early":               {wire.DriveTypeRaid, "4.13.9", "x86_64", nil, "4.14 or later"},
		"iSCSI":                        {wire.DriveTypeISCSI, "4.15", "x86_64", nil, ""},
		"iSCSI too early":              {wire.DriveTypeISCSI, "4.14", "x86_64", nil, "4.15 or later"},
		"iSCSI without a release":      {wire.DriveTypeISCSI, "", "x86_64", nil, ""},
		"iSCSI on the default route":   {wire.DriveTypeISCSI, "4.20", "x86_64", overDefaultRoute, "default route"},
		"Fibre Channel":                {wire.DriveTypeFc, "4.20", "s390x", nil, ""},
		"Fibre Channel on ARM":         {wire.DriveTypeFc, "4.20", "aarch64", nil, "aarch64"},
		"DASD":                         {wire.DriveTypeEckd, "4.20", "s390x", nil, ""},
		"DASD on a PC":                 {wire.DriveTypeEckd, "4.20", "x86_64", nil, "x86_64"},
		"multipath over Fibre Channel": {wire.DriveTypeMultipath, "4.20", "x86_64", pathsOf(wire.DriveTypeFc, wire.DriveTypeFc), ""},
		"multipath over iSCSI":         {wire.DriveTypeMultipath, "4.20", "x86_64", pathsOf(wire.DriveTypeISCSI), ""},
		"multipath on the default route": {wire.DriveTypeMultipath, "4.20", "x86_64", func(i *wire.Inventory) {
			overDefaultRoute(i)
			pathsOf(wire.DriveTypeISCSI, wire.DriveTypeISCSI)(i)
			i.Disks[2].Iscsi, i.Disks[0].Iscsi = i.Disks[0].Iscsi, nil
		}, "default route"},
		"multipath over both":           {wire.DriveTypeMultipath, "4.20", "x86_64", pathsOf(wire.DriveTypeISCSI, wire.DriveTypeFc), "neither all"},
		"multipath over something else": {wire.DriveTypeMultipath, "4.20", "x86_64", pathsOf(wire.DriveTypeSsd, wire.DriveTypeSsd), "neither all"},
		"a kind that nobody knows":      {"Tape", "4.20", "x86_64", nil, `"Tape"`},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			inventory := &wire.Inventory{
				CPU:   &wire.CPU{Architecture: tc.arch},
				Disks: []wire.Disk{{Name: "dm-0", Path: "/dev/dm-0", DriveType: tc.kind, SizeBytes: 200e9}},
			}
			if tc.change != nil {
				tc.change(inventory)
			}
			why := validations.WhyNot(&inventory.Disks[0], inventory, validations.Requirements{DiskGB: 100, Version: tc.version})
			if tc.want == "" {
				g.Expect(why).To(BeEmpty())
				return
			}
			g.Expect(why).To(ConsistOf(ContainSubstring(tc.want)))
		})
	}
}

func overDefaultRoute(i *wire.Inventory) {
	i.Disks[0].Iscsi = &wire.Iscsi{HostIPAddress: "192.0.2.7"}
	i.Interfaces = []wire.Interface{{Name: "eno1", Ipv4Addresses: []string{"192.0.2.7/24"}}}
	i.Routes = []wire.Route{{Destination: "0.0.0.0", Gateway: "192.0.2.1", Interface: "eno1"}}
}

func pathsOf(kinds ...wire.DriveType) func(*wire.Inventory) {
	return func(i *wire.Inventory) {
		for _, kind := range kinds {
			i.Disks = append(i.Disks, wire.Disk{Name: "sd", DriveType: kind, Holders: "dm-0", SizeBytes: 200e9})
		}
	}
}

// TestRecordedMachines judges the inventories that the agent made of recorded
// machines: which disk each would be installed to.
func TestRecordedMachines(t *testing.T) {
	for machine, want := range map[string]string{
		"iscsi":     "",    // its disks are reached over the only interface
		"multipath": "sdc", // its array is none of Fibre Channel or iSCSI
		"nvme":      "nvme",
		"vm":        "vd",
	} {
		t.Run(machine, func(t *testing.T) {
			g := NewWithT(t)
			raw, err := os.ReadFile(filepath.Join("../../agent/inventory/testdata/machines", machine, "inventory.json"))
			g.Expect(err).NotTo(HaveOccurred())
			var inventory wire.Inventory
			g.Expect(json.Unmarshal(raw, &inventory)).To(Succeed())
			found := validations.Eligible(&inventory, validations.Requirements{DiskGB: 1, Version: "4.20"})
			if want == "" {
				g.Expect(found).To(BeEmpty())
				return
			}
			g.Expect(found).NotTo(BeEmpty())
			g.Expect(found[0].Name).To(HavePrefix(want))
		})
	}
}

// TestWhatTheInstallerCleansCanBeInstalledTo: disks that reports tell of, one with an old
// system on LVM, one that is a member of an old software RAID (assisted-installer#460).
func TestWhatTheInstallerCleansCanBeInstalledTo(t *testing.T) {
	for name, change := range map[string]func(*wire.Disk){
		"an old system on LVM":    func(d *wire.Disk) { d.Holders = "dm-0,dm-1" },
		"a member of an old RAID": func(d *wire.Disk) { d.Holders = "md127" },
		"a removable disk":        func(d *wire.Disk) { d.Removable = true },
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			d := wire.Disk{ID: "/dev/sda", Name: "sda", Path: "/dev/sda", DriveType: wire.DriveTypeSsd, SizeBytes: 500e9}
			change(&d)
			inventory := &wire.Inventory{Disks: []wire.Disk{
				d,
				{ID: "/dev/dm-0", Name: "dm-0", DriveType: wire.DriveTypeLvm, SizeBytes: 100e9},
				{ID: "/dev/md127", Name: "md127", DriveType: wire.DriveTypeRaid, SizeBytes: 10e9},
			}}
			g.Expect(validations.WhyNot(&inventory.Disks[0], inventory, validations.Requirements{DiskGB: 100})).To(BeEmpty())
		})
	}
}

// TestPathsOfAMultipathDeviceAreRefused (OCPBUGS-79576): whatever kind they are, the
// installer refuses them as well.
func TestPathsOfAMultipathDeviceAreRefused(t *testing.T) {
	for _, kind := range []wire.DriveType{wire.DriveTypeFc, wire.DriveTypeISCSI} {
		g := NewWithT(t)
		inventory := &wire.Inventory{Disks: []wire.Disk{
			{ID: "/dev/sda", Name: "sda", DriveType: kind, SizeBytes: 500e9, Holders: "dm-0"},
			{ID: "/dev/dm-0", Name: "dm-0", DriveType: wire.DriveTypeMultipath, SizeBytes: 500e9},
		}, CPU: &wire.CPU{Architecture: "x86_64"}}
		g.Expect(validations.WhyNot(&inventory.Disks[0], inventory, validations.Requirements{DiskGB: 100})).To(ConsistOf("Disk is a path of dm-0; choose that"))
		g.Expect(validations.WhyNot(&inventory.Disks[1], inventory, validations.Requirements{DiskGB: 100})).To(BeEmpty())
	}
}
