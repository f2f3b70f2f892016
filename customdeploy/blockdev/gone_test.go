package blockdev_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// TestADiskThatUdevDoesNotKnow: a path that goes away between two looks must not cost the
// machine its deployment; ironic-python-agent goes on with what lsblk has said, too.
func TestADiskThatUdevDoesNotKnow(t *testing.T) {
	for name, tc := range map[string]struct {
		fails error
		want  string
	}{
		"gone in between": {&hostexec.ExitError{Name: "udevadm", Code: 1, Last: "Unknown device \"/dev/sda\": No such device"}, ""},
		"no udevadm":      {&hostexec.ExitError{Name: "udevadm", Code: 127}, "udevadm: exit status 127"},
		"it hangs":        {errors.New("no end in 5m0s"), "no end in 5m0s"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			run := func(_ context.Context, argv []string, line func(string)) error {
				switch {
				case argv[0] == "lsblk":
					line(`{"blockdevices": [{"path": "/dev/sda", "type": "disk", "size": 1000, "wwn": "0x5000a"}, {"path": "/dev/sdb", "type": "disk", "size": 1000}]}`)
				case strings.HasSuffix(argv[len(argv)-1], "/dev/sda"):
					return tc.fails
				default:
					line("ID_WWN=0x5000b")
				}
				return nil
			}
			disks, err := blockdev.Disks(t.Context(), run, hostfile.Dir{Root: t.TempDir()})
			if tc.want != "" {
				g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
				return
			}
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(disks).To(HaveExactElements(
				And(HaveField("Path", "/dev/sda"), HaveField("WWN", ""), HaveField("WWNs", []string{"0x5000a"})),
				And(HaveField("Path", "/dev/sdb"), HaveField("WWN", "0x5000b"))))
		})
	}
}

// TestPartitionsOfAMappedDiskAreReadByKpartx: the kernel has no partition tables there, and
// refuses BLKRRPART.
func TestPartitionsOfAMappedDiskAreReadByKpartx(t *testing.T) {
	for disk, want := range map[string]string{
		"/dev/sda": "blockdev --rereadpt /dev/sda", "/dev/mapper/mpatha": "kpartx -u -n /dev/mapper/mpatha", "/dev/dm-0": "kpartx -u -n /dev/dm-0",
	} {
		g := NewWithT(t)
		var ran []string
		run := func(_ context.Context, argv []string, _ func(string)) error {
			ran = append(ran, strings.Join(argv, " "))
			return nil
		}
		blockdev.Rescan(t.Context(), run, disk, func(err error) { t.Error(err) })
		g.Expect(ran).To(Equal([]string{want, "udevadm settle"}))
	}
}
