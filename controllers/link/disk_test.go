package link_test

import (
	"testing"

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
