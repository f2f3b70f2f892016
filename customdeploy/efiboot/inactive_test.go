package efiboot

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// uefi is a host with a written disk, this boot menu and this loader on its ESP; it notes what
// efibootmgr is asked for.
func uefi(t *testing.T, menu, loader string) (host hostfile.Dir, run func(context.Context, []string, func(string)) error, asked *[]string) {
	t.Helper()
	host = hostfile.Dir{Root: t.TempDir()}
	for _, folder := range []string{"/sys/firmware/efi", "/sys/class/block/sda2"} {
		if err := os.MkdirAll(host.Path(folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(host.Path("/sys/class/block/sda2/partition"), []byte("2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked = &[]string{}
	run = func(_ context.Context, argv []string, line func(string)) error {
		switch argv[0] {
		case "lsblk":
			line(written)
		case "mount":
			file := host.Path(filepath.Join(espMount, loader))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			return os.WriteFile(file, nil, 0o600)
		case "umount":
			return os.RemoveAll(host.Path(espMount + "/EFI"))
		case "efibootmgr":
			if argv[1] == "-v" {
				line(menu)
			} else {
				*asked = append(*asked, strings.Join(argv, " "))
			}
		}
		return nil
	}
	return host, run, asked
}

// without the * after its number an entry is not active: firmware passes over it (UEFI 2.10, 3.1.3:
// LOAD_OPTION_ACTIVE), wherever it is in BootOrder.
const inactive = "BootOrder: 0000,0001\nBoot0000* UiApp\tFvVol(7cb8bdc9)/FvFile(462caa21)\n" +
	"Boot0001  CoreOS\tHD(2,GPT,11111111-0000-0000-0000-000000000001,0x1000,0x3f800)/File(\\EFI\\redhat\\shimx64.efi)\n"

// TestAnInactiveEntryIsMadeActive: put first but left inactive, it is passed over.
func TestAnInactiveEntryIsMadeActive(t *testing.T) {
	g := NewWithT(t)
	host, run, asked := uefi(t, inactive, loaders[0])
	f := Firmware{Exec: run, Host: host, Label: "CoreOS"}
	warning, err := f.First(t.Context(), "/dev/sda")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(warning).To(BeEmpty())
	g.Expect(slices.ContainsFunc(*asked, func(line string) bool {
		return strings.Contains(line, "--active") || strings.Contains(line, " -a") || strings.Contains(line, "--create")
	})).To(BeTrue(), "only this was asked for: %q", *asked)
}

// TestAnInactiveEntryBootsNothing: confirm_install must not take it for a way to the system.
func TestAnInactiveEntryBootsNothing(t *testing.T) {
	g := NewWithT(t)
	host, run, _ := uefi(t, inactive, loaders[0]) // no \EFI\BOOT
	found, err := Bootable(t.Context(), run, host, "/dev/sda")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())
}

// TestAnEntryOutsideTheOrderBootsNothing: firmware starts what is in BootOrder.
func TestAnEntryOutsideTheOrderBootsNothing(t *testing.T) {
	g := NewWithT(t)
	menu := "BootOrder: 0000\nBoot0000* UiApp\tFvVol(7cb8bdc9)/FvFile(462caa21)\n" +
		"Boot0001* CoreOS\tHD(2,GPT,11111111-0000-0000-0000-000000000001,0x1000,0x3f800)/File(\\EFI\\redhat\\shimx64.efi)\n"
	host, run, _ := uefi(t, menu, loaders[0])
	found, err := Bootable(t.Context(), run, host, "/dev/sda")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(found).To(BeFalse())
}
