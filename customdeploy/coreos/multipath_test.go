package coreos

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/played"
)

// TestABootEntryOnAMultipathDisk: coreos-installer takes the partitions of a mapped disk
// away when it ends (its PartTableKpartx), so that there is no ESP until they are made anew.
func TestABootEntryOnAMultipathDisk(t *testing.T) { synctest.Test(t, bootEntryOnAMultipathDisk) }

func bootEntryOnAMultipathDisk(t *testing.T) {
	g := NewWithT(t)
	m, s, written := listed(t, fmt.Sprintf(fleet, "fc"), fleetTree)
	for path, text := range map[string]string{
		"/sys/firmware/efi/efivars/OsIndications-8be4df61-93ca-11d2-aa0d-00e098032b8c": "\x07\x00\x00\x00x", "/dev/mapper/control": "",
		"/sys/class/block/dm-0/queue/logical_block_size": "512\n", "/sys/class/block/dm-2/dm/uuid": "part2-mpath-3600508b4\n", "/sys/class/block/dm-2/size": "260096\n",
		"/sys/class/block/dm-2/dev": "253:2\n", "/run/udev/data/b253:2": "E:ID_PART_ENTRY_OFFSET=4096\n",
	} {
		played.Write(t, m.host, path, text)
	}
	for name, target := range map[string]string{"mpatha": "../dm-0", "mpatha2": "../dm-2"} {
		g.Expect(os.Symlink(target, m.host.Path("/dev/mapper/"+name))).To(Succeed())
	}
	run, children, tries := s.Exec, "", 0
	s.Exec = func(ctx context.Context, argv []string, line func(string)) error {
		switch {
		case argv[0] == "lsblk" && strings.Contains(strings.Join(argv, " "), blockdev.PartitionColumns):
			line(`{"blockdevices": [{"path": "/dev/mapper/mpatha"` + children + `}]}`)
			return nil
		case argv[0] == "kpartx":
			if tries++; tries < 3 { // the mapper is busy
				return exit(1)
			}
			children = `, "children": [{"path": "/dev/mapper/mpatha2", "parttype": "c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "partuuid": "11111111-0000-0000-0000-000000000001"}]`
			return nil
		case argv[0] == "mount":
			played.Write(t, m.host, filepath.Join(argv[len(argv)-1], "EFI/redhat/shimx64.efi"), "")
			return nil
		case argv[0] == "umount":
			return os.RemoveAll(m.host.Path(filepath.Join(argv[len(argv)-1], "EFI")))
		}
		return run(ctx, argv, line)
	}
	r := s.Run(t.Context(), order(m, step.Node{InstanceInfo: map[string]any{}}))
	g.Expect(*written).To(Equal("/dev/mapper/mpatha"), "%+v", r)
	g.Expect(r.Outcome).To(Equal(step.Done), "%+v", r)
	g.Expect(m.host.Path("/sys/firmware/efi/efivars/Boot0000-8be4df61-93ca-11d2-aa0d-00e098032b8c")).To(BeAnExistingFile())
}
