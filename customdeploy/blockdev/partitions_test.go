package blockdev_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/test/played"
)

func TestNumbersOfPartitions(t *testing.T) {
	dir := hostfile.Dir{Root: t.TempDir()}
	for path, text := range map[string]string{
		"/sys/class/block/sda2/partition": "2\n", "/sys/class/block/dm-3/dm/uuid": "part4-mpath-3600508b400105e210000900000490000\n",
		"/sys/class/block/dm-1/dm/uuid": "LVM-abc\n", "/sys/class/block/sdb1/partition": "x\n", "/dev/mapper/.keep": "",
	} {
		played.Write(t, dir, path, text)
	}
	for name, target := range map[string]string{"mpatha4": "../dm-3", "vg0-root": "../dm-1"} {
		if err := os.Symlink(target, filepath.Join(dir.Path("/dev/mapper"), name)); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]int{
		"/dev/sda2": 2, "/dev/mapper/mpatha4": 4, "/dev/mapper/vg0-root": 0, "/dev/sdb1": 0, "/dev/sdc1": 0,
	} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			g := NewWithT(t)
			n, err := blockdev.Partition{Path: path}.Number(dir)
			g.Expect(n).To(Equal(want))
			g.Expect(err != nil).To(Equal(want == 0), "%v", err)
		})
	}
}
