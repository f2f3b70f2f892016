package efiboot

import (
	"context"
	"encoding/json"
	"os"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

const espType = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"

const bootMenu = `BootCurrent: 0001
BootOrder: 0001,0000,0003
Boot0000* UiApp	FvVol(7cb8bdc9)/FvFile(462caa21)
Boot0001* Red Hat Enterprise Linux	HD(2,GPT,11111111-0000-0000-0000-000000000001,0x1000,0x3f800)/File(\EFI\redhat\shimx64.efi)
Boot0003* CoreOS	HD(2,GPT,22222222-0000-0000-0000-000000000002,0x1000,0x3f800)/\EFI\redhat\shimx64.efi
`

func TestBootMenu(t *testing.T) {
	g := NewWithT(t)
	g.Expect(findEntry(bootMenu, "11111111-0000-0000-0000-000000000001", `\EFI\REDHAT\shimx64.efi`)).To(Equal("0001"))
	g.Expect(findEntry(bootMenu, "22222222-0000-0000-0000-000000000002", `\EFI\redhat\shimx64.efi`)).To(Equal("0003"))
	g.Expect(findEntry(bootMenu, "11111111-0000-0000-0000-000000000001", `\EFI\BOOT\BOOTX64.EFI`)).To(BeEmpty(), "another path")
	g.Expect(findEntry(bootMenu, "33333333-0000-0000-0000-000000000003", `\EFI\redhat\shimx64.efi`)).To(BeEmpty(), "another partition")
	g.Expect(firstInOrder(bootMenu, "0003")).To(Equal([]string{"0003", "0001", "0000"}))
}

// TestBootEntry plays a UEFI host: a second run finds the entry of the first.
func TestBootEntry(t *testing.T) {
	g := NewWithT(t)
	host := hostfile.Dir{Root: t.TempDir()}
	g.Expect(os.MkdirAll(host.Path("/sys/firmware/efi"), 0o755)).To(Succeed())
	g.Expect(os.MkdirAll(host.Path("/sys/class/block/sda2"), 0o755)).To(Succeed())
	g.Expect(os.WriteFile(host.Path("/sys/class/block/sda2/partition"), []byte("2\n"), 0o600)).To(Succeed())
	var created, ordered int
	menu := "BootOrder: 0000\nBoot0000* UiApp\n"
	s := &Firmware{Host: host, Label: "CoreOS", Exec: func(_ context.Context, argv []string, line func(string)) error {
		switch argv[0] {
		case "lsblk":
			raw, _ := json.Marshal(map[string]any{"blockdevices": []any{map[string]any{"path": "/dev/sda", "children": []any{
				map[string]any{"path": "/dev/sda2", "parttype": espType, "partuuid": "AAAA"},
			}}}})
			line(string(raw))
		case "mount":
			return os.MkdirAll(host.Path(espMount+"/EFI/fedora"), 0o755)
		case "umount":
			return os.RemoveAll(host.Path(espMount + "/EFI"))
		case "efibootmgr":
			switch argv[1] {
			case "-v":
				line(menu)
			case "--create":
				created++
				g.Expect(argv).To(ContainElements("/dev/sda", "2", `\EFI\fedora\shimx64.efi`))
				menu = "BootOrder: 0001,0000\nBoot0001* CoreOS\tHD(2,GPT,aaaa,0x1)/File(\\EFI\\fedora\\shimx64.efi)\n"
			case "--bootorder":
				ordered++
			}
		}
		return nil
	}}
	mount := s.Exec
	s.Exec = func(ctx context.Context, argv []string, line func(string)) error {
		if err := mount(ctx, argv, line); err != nil || argv[0] != "mount" {
			return err
		}
		return os.WriteFile(host.Path(espMount+"/EFI/fedora/shimx64.efi"), nil, 0o600)
	}
	for range 2 {
		warning, err := s.First(t.Context(), "/dev/sda")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(warning).To(BeEmpty())
	}
	g.Expect(created).To(Equal(1), "no duplicates after a retry")
	g.Expect(ordered).To(Equal(1))
}
