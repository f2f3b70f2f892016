package efiboot

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// TestReportedMenus plays firmware whose menu has the disk's entry already.
func TestReportedMenus(t *testing.T) {
	for name, tc := range map[string]struct {
		menu string
		want []string // commands that change the menu, in their order
	}{
		// efibootmgr ends with 8 when it is to write a number that has no entry (omarchy-iso#94).
		"an order with a number that has no entry": {
			"BootOrder: 0001,2001,0003,2004\nBoot0001* UiApp\nBoot0003* CoreOS\tHD(2,GPT,aaaa,0x1)/File(\\EFI\\fedora\\shimx64.efi)\nBoot2001* EFI USB Device\tRC\n",
			[]string{"--bootorder 0003,0001,2001"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := hostfile.Dir{Root: t.TempDir()}
			g.Expect(os.MkdirAll(host.Path("/sys/firmware/efi"), 0o755)).To(Succeed())
			var changes []string
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s := &Firmware{Host: host, Label: "CoreOS", Exec: func(_ context.Context, argv []string, line func(string)) error {
				switch argv[0] {
				case "lsblk":
					raw, _ := json.Marshal(map[string]any{"blockdevices": []any{map[string]any{"path": "/dev/sda", "children": []any{
						map[string]any{"path": "/dev/sda2", "parttype": espType, "partuuid": "AAAA"},
					}}}})
					line(string(raw))
				case "mount":
					if err := os.MkdirAll(host.Path(espMount+"/EFI/fedora"), 0o755); err != nil {
						return err
					}
					return os.WriteFile(host.Path(espMount+"/EFI/fedora/shimx64.efi"), nil, 0o600)
				case "umount":
					return os.RemoveAll(host.Path(espMount + "/EFI"))
				case "efibootmgr":
					if argv[1] == "-v" {
						line(tc.menu)
						return nil
					}
					changes = append(changes, strings.Join(argv[1:], " "))
					if strings.Contains(argv[len(argv)-1], "2004") {
						cancel() // the test waits for no more tries
						return errors.New("exit status 8: Invalid BootOrder order entry value2004")
					}
				}
				return nil
			}}
			_, err := s.First(ctx, "/dev/sda")
			g.Expect(changes).To(HaveLen(len(tc.want)), "%v", changes)
			for n, want := range tc.want {
				g.Expect(changes[n]).To(ContainSubstring(want))
			}
			g.Expect(err).NotTo(HaveOccurred())
		})
	}
}
