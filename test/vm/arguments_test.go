package vm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// TestArguments compares QEMU's arguments with what is known to boot.
func TestArguments(t *testing.T) {
	config := Config{
		UUID: "0d1c0000-0000-4000-8000-0000000000f1", Name: "vm-0", Dir: "/run/vm,0", TPM: true,
		Disks: []Disk{
			{SizeMiB: 1, Serial: "one"},
			{Kind: DiskNVMe, SizeMiB: 1},
			{Kind: DiskSCSI, SizeMiB: 1, WWN: "0x5000c50015ac3bd9", Rotational: true},
			{Kind: DiskSATA, SizeMiB: 1, Fault: &Fault{Flushes: true, Sectors: []int64{7}}},
			{Kind: DiskSCSI, SizeMiB: 1, Serial: "LUN1", WWN: "0x6000097000012000", Paths: 2},
		},
		NICs: []NIC{
			{MAC: "52:54:00:00:00:f1", Tap: "ifabcd-card0"},
			{MAC: "52:54:00:00:00:f2", Model: "e1000e"},
			{MAC: "52:54:00:00:00:f3", Tap: "ifabcd-card2", Onboard: 12399},
		},
	}
	for name, c := range map[string]struct {
		plan  plan
		drive Drive
	}{
		"uefi-medium":  {plan{firmware: UEFI, order: []Source{SourceMedium, SourceDisk}}, DriveSATA},
		"uefi-secure":  {plan{firmware: UEFI, secure: true, order: []Source{SourceDisk, SourceMedium}}, DriveUSB},
		"bios-network": {plan{firmware: BIOS, order: []Source{SourceNetwork, SourceDisk}}, DriveSATA},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			config := config
			config.Drive = c.drive
			config, err := config.complete()
			g.Expect(err).NotTo(HaveOccurred())
			f := files{
				qmp: "/run/qmp", tpm: "/run/tpm", console: "/run/console", log: "/run/vm,0/console.log", journal: "/run/vm,0/journal.log",
				disks: []string{"/run/a", "/run/b", "/run/c", "/run/d,e", "/run/f"},
			}
			f.code, _, f.nvram = firmwareFiles(config, c.plan)
			got := strings.Join(arguments(config, c.plan, f), "\n") + "\n"
			golden := filepath.Join("testdata", name+".args")
			if os.Getenv("UPDATE") != "" {
				g.Expect(os.WriteFile(golden, []byte(got), 0o644)).To(Succeed())
			}
			want, err := os.ReadFile(golden)
			g.Expect(err).NotTo(HaveOccurred(), "UPDATE=1 writes it")
			g.Expect(got).To(Equal(string(want)))
		})
	}
}

func TestConfig(t *testing.T) {
	valid := Config{UUID: "0d1c0000-0000-4000-8000-0000000000f1", Name: "vm-0", Dir: "/run/vm"}
	for name, change := range map[string]func(*Config){
		"no UUID":                    func(c *Config) { c.UUID = "" },
		"a name with an option":      func(c *Config) { c.Name = "vm,x=y" },
		"a folder that may be any":   func(c *Config) { c.Dir = "vm" },
		"a disk of no size":          func(c *Config) { c.Disks = []Disk{{}} },
		"a disk of an unknown kind":  func(c *Config) { c.Disks = []Disk{{SizeMiB: 1, Kind: "floppy"}} },
		"a serial with an option":    func(c *Config) { c.Disks = []Disk{{SizeMiB: 1, Serial: "a,b"}} },
		"a virtio disk with a WWN":   func(c *Config) { c.Disks = []Disk{{SizeMiB: 1, WWN: "0x5000c50015ac3bd9"}} },
		"an NVMe disk with a WWN":    func(c *Config) { c.Disks = []Disk{{Kind: DiskNVMe, SizeMiB: 1, WWN: "0x5000c50015ac3bd9"}} },
		"two paths, nothing to tell": func(c *Config) { c.Disks = []Disk{{Kind: DiskSCSI, SizeMiB: 1, Paths: 2}} },
		"an NVMe disk of two paths":  func(c *Config) { c.Disks = []Disk{{Kind: DiskNVMe, SizeMiB: 1, Serial: "a", Paths: 2}} },
		"a card of too high number":  func(c *Config) { c.NICs = []NIC{{MAC: "52:54:00:00:00:f1", Onboard: 16384}} },
		"a MAC in upper case":        func(c *Config) { c.NICs = []NIC{{MAC: "52:54:00:00:00:F1"}} },
		"a device name of an option": func(c *Config) { c.NICs = []NIC{{MAC: "52:54:00:00:00:f1", Tap: "a,script=x"}} },
	} {
		t.Run(name, func(t *testing.T) {
			c := valid
			change(&c)
			_, err := c.complete()
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
	_, err := valid.complete()
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
}
