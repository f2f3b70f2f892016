package link_test

import (
	"testing"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/controllers/link"
)

// TestHintsByPath: udev gives a SATA disk two names below by-path, with and without the
// port's ".0"; a user who takes the shorter one finds the disk as well (assisted-service#8489).
func TestHintsByPath(t *testing.T) {
	disk := func(id, byPath string) agentv1.HostDisk {
		return agentv1.HostDisk{
			ID: id, Path: "/dev/" + id, ByPath: byPath, SizeBytes: 480103981056,
			InstallationEligibility: agentv1.HostInstallationEligibility{Eligible: true},
		}
	}
	disks := []agentv1.HostDisk{
		disk("eleventh", "/dev/disk/by-path/pci-0000:05:00.0-ata-11.0"),
		disk("behind", "/dev/disk/by-path/pci-0000:05:00.0-ata-1.1"),
		disk("first", "/dev/disk/by-path/pci-0000:05:00.0-ata-1.0"),
		disk("older", "/dev/disk/by-path/pci-0000:00:1f.2-ata-2"),
		disk("sas", "/dev/disk/by-path/pci-0000:07:00.0-sas-phy4-lun-0"),
		disk("none", ""),
	}
	for path, want := range map[string]string{
		"pci-0000:05:00.0-ata-1.0":     "first",
		"pci-0000:05:00.0-ata-1":       "first",
		"pci-0000:05:00.0-ata-1.1":     "behind",
		"pci-0000:05:00.0-ata-11":      "eleventh",
		"pci-0000:00:1f.2-ata-2.0":     "older",
		"pci-0000:05:00.0-ata-3":       link.NoSuchDisk,
		"pci-0000:07:00.0-sas-phy4":    link.NoSuchDisk,
		"pci-0000:05:00.0-ata-1-part1": link.NoSuchDisk,
	} {
		t.Run(path, func(t *testing.T) {
			g := NewWithT(t)
			id, ok := link.InstallationDisk(disks, &metal3v1.RootDeviceHints{DeviceName: "/dev/disk/by-path/" + path})
			g.Expect(id).To(Equal(want))
			g.Expect(ok).To(BeTrue())
		})
	}
}

// TestHintsOfAPath: vendor, model, serial number and address are those of the paths; the
// multipath disk over them has none of its own, and who names a path means that disk, as
// in the deploy step.
func TestHintsOfAPath(t *testing.T) {
	path := func(name, serial, wwn string) agentv1.HostDisk {
		return agentv1.HostDisk{
			ID: name, Path: "/dev/" + name, DriveType: "FC", Vendor: "EMC", Model: "SYMMETRIX", Serial: serial, Wwn: wwn, SizeBytes: 500e9, Hctl: "15:0:0:" + serial,
			ByPath: "/dev/disk/by-path/pci-0000:98:00.0-fc-0x50-lun-" + serial,
		}
	}
	over := func(name, wwn string) agentv1.HostDisk {
		return agentv1.HostDisk{
			ID: name, Path: "/dev/" + name, DriveType: "Multipath", Wwn: wwn, SizeBytes: 500e9,
			InstallationEligibility: agentv1.HostInstallationEligibility{Eligible: true},
		}
	}
	local := path("sda", "7", "0x6d0")
	local.DriveType, local.InstallationEligibility.Eligible = "SSD", true
	disks := []agentv1.HostDisk{local, over("dm-0", "0x600a"), over("dm-1", "0x600b"), path("sdb", "1", "0x600a"), path("sdc", "2", "0x600b"), path("sdd", "2", "0x600b"), path("sde", "9", "")}
	for name, tc := range map[string]struct {
		hints metal3v1.RootDeviceHints
		want  string
	}{
		"serial number":           {metal3v1.RootDeviceHints{SerialNumber: "2"}, "dm-1"},
		"address":                 {metal3v1.RootDeviceHints{HCTL: "15:0:0:1"}, "dm-0"},
		"place":                   {metal3v1.RootDeviceHints{DeviceName: "/dev/disk/by-path/pci-0000:98:00.0-fc-0x50-lun-2"}, "dm-1"},
		"model and serial number": {metal3v1.RootDeviceHints{Model: "SYMM", SerialNumber: "2"}, "dm-1"},
		"name of a path":          {metal3v1.RootDeviceHints{DeviceName: "/dev/sdc"}, "dm-1"},
		"name of the disk":        {metal3v1.RootDeviceHints{DeviceName: "/dev/dm-0"}, "dm-0"},
		"one path has not both":   {metal3v1.RootDeviceHints{HCTL: "15:0:0:1", SerialNumber: "2"}, link.NoSuchDisk},
		"a path of no disk":       {metal3v1.RootDeviceHints{SerialNumber: "9"}, link.NoSuchDisk},
		"a disk of its own":       {metal3v1.RootDeviceHints{SerialNumber: "7"}, "sda"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			id, ok := link.InstallationDisk(disks, &tc.hints)
			g.Expect(id).To(Equal(tc.want))
			g.Expect(ok).To(BeTrue())
		})
	}
}

// TestWhatHintsHaveChosen: a disk that was named by its path makes room for it, and hints that fit no disk leave nothing behind.
func TestWhatHintsHaveChosen(t *testing.T) {
	disks := func(a *agentv1.Agent) {
		a.Status.Inventory.Disks = []agentv1.HostDisk{{ID: "small", Path: "/dev/sda", SizeBytes: 1, InstallationEligibility: agentv1.HostInstallationEligibility{Eligible: true}}}
	}
	hints := func(serial string) func(*metal3v1.BareMetalHost) {
		return func(h *metal3v1.BareMetalHost) {
			h.Spec.RootDeviceHints = &metal3v1.RootDeviceHints{SerialNumber: serial, DeviceName: "/dev/sda"}
		}
	}
	t.Run("a path that was chosen before", func(t *testing.T) {
		a := registered("ours", time.Now(), linked, disks, func(a *agentv1.Agent) { a.Spec.InstallationDiskPath = "/dev/sda" })
		w := newWorld(t, host(metal3v1.StateProvisioning, asked, hints("")), a)
		w.pass()
		w.Expect(w.agent("ours").Spec).To(And(HaveField("InstallationDiskID", "small"), HaveField("InstallationDiskPath", "")), "both together are refused by the API server")
	})
	t.Run("hints that fit no disk, and are taken away", func(t *testing.T) {
		w := newWorld(t, host(metal3v1.StateProvisioning, asked, hints("S9")), registered("ours", time.Now(), linked, disks))
		h := w.pass()
		w.Expect(w.agent("ours").Spec.InstallationDiskID).To(Equal(link.NoSuchDisk))
		h.Spec.RootDeviceHints = nil
		w.Expect(w.kube.Update(t.Context(), h)).To(Succeed())
		w.pass()
		w.Expect(w.agent("ours").Spec.InstallationDiskID).To(BeEmpty())
	})
	t.Run("what the Agent says itself", func(t *testing.T) {
		a := registered("ours", time.Now(), linked, disks, func(a *agentv1.Agent) { a.Spec.InstallationDiskID = "small" })
		w := newWorld(t, host(metal3v1.StateProvisioning, asked), a)
		w.pass()
		w.Expect(w.agent("ours").Spec.InstallationDiskID).To(Equal("small"))
	})
}
