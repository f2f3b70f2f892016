package efiboot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
)

// written is a disk as an installer leaves it: BIOS boot, ESP, boot, root.
const written = `{"blockdevices": [{"path": "/dev/sda", "parttype": null, "partuuid": null, "children": [
	{"path": "/dev/sda1", "parttype": "21686148-6449-6e6f-744e-656564454649", "partuuid": "00000000-0000-0000-0000-000000000001"},
	{"path": "/dev/sda2", "parttype": "` + espType + `", "partuuid": "11111111-0000-0000-0000-000000000001"}]}]}`

func TestBootable(t *testing.T) {
	const otherDisk = "BootOrder: 0001\nBoot0001* Old\tHD(2,GPT,99999999-0000-0000-0000-000000000009,0x1000,0x3f800)/File(\\EFI\\redhat\\shimx64.efi)\n"
	for name, tc := range map[string]struct {
		bios   bool
		disk   string
		lsblk  string // empty: it fails
		menu   string // empty: efibootmgr fails
		loader string // on the ESP; "-": it cannot be mounted
		want   bool
		err    string
	}{
		"booted by BIOS":                        {bios: true, disk: "/dev/sda", want: true},
		"no disk is known":                      {want: true},
		"an entry for the disk":                 {disk: "/dev/sda", lsblk: written, menu: bootMenu, want: true},
		"entries of another disk, fall-back":    {disk: "/dev/sda", lsblk: written, menu: otherDisk, loader: fallbacks[0], want: true},
		"entries of another disk, no fall-back": {disk: "/dev/sda", lsblk: written, menu: otherDisk, loader: loaders[0]},
		"no ESP at all":                         {disk: "/dev/sda", lsblk: `{"blockdevices": [{"path": "/dev/sda"}]}`, menu: otherDisk},
		"no efibootmgr, fall-back":              {disk: "/dev/sda", lsblk: written, loader: fallbacks[1], want: true},
		"no efibootmgr, no fall-back":           {disk: "/dev/sda", lsblk: written, err: "efibootmgr: exit status 127"},
		"the ESP cannot be mounted":             {disk: "/dev/sda", lsblk: written, menu: otherDisk, loader: "-", err: "mount: exit status 32"},
		"no such disk":                          {disk: "/dev/sdz", err: "lsblk: exit status 32"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			host := hostfile.Dir{Root: t.TempDir()}
			if !tc.bios {
				g.Expect(os.MkdirAll(host.Path("/sys/firmware/efi"), 0o755)).To(Succeed())
			}
			run := func(_ context.Context, argv []string, line func(string)) error {
				answer := map[string]string{"lsblk": tc.lsblk, "efibootmgr": tc.menu}[argv[0]]
				switch {
				case argv[0] == "umount":
					return os.RemoveAll(host.Path(espMount + "/EFI"))
				case argv[0] == "mount" && tc.loader == "-":
					return exit(32)
				case argv[0] == "mount" && tc.loader != "":
					file := host.Path(filepath.Join(espMount, tc.loader))
					g.Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
					return os.WriteFile(file, nil, 0o600)
				case argv[0] == "mount":
					return nil
				case answer == "" && argv[0] == "lsblk":
					return exit(32)
				case answer == "":
					return exit(127)
				}
				line(answer)
				return nil
			}
			got, err := Bootable(t.Context(), run, host, tc.disk)
			g.Expect(got).To(Equal(tc.want))
			if tc.err == "" {
				g.Expect(err).NotTo(HaveOccurred())
			} else {
				g.Expect(err).To(MatchError(ContainSubstring(tc.err)))
			}
			g.Expect(host.Path(espMount)).NotTo(BeADirectory())
		})
	}
}

// exit is an exit status as exec.ExitError has it.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
func (e exit) ExitCode() int { return int(e) }
