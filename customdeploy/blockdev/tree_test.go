package blockdev_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/test/needs"
)

// TestTreeOfTheRealLsblk: what lies on a disk stands below it. All in a row, a
// RAID would look like a disk of its own.
func TestTreeOfTheRealLsblk(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("a loop device needs root")
	}
	needs.Program(t, "lsblk", "util-linux")
	losetup, addPartition, delPartition := needs.Program(t, "losetup", "mount"), needs.Program(t, "addpart", "util-linux"), needs.Program(t, "delpart", "util-linux")
	g := NewWithT(t)
	// One partition, which the kernel is told of: not each reads partition tables.
	file := filepath.Join(t.TempDir(), "disk")
	g.Expect(os.WriteFile(file, make([]byte, 16<<20), 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), losetup, "--find", "--show", file).Output()
	g.Expect(err).NotTo(HaveOccurred())
	loop := strings.TrimSpace(string(out))
	t.Cleanup(func() { // after the test's context
		_ = exec.Command(delPartition, loop, "1").Run()
		_ = exec.Command(losetup, "--detach", loop).Run()
	})
	said, err := exec.CommandContext(t.Context(), addPartition, loop, "1", "2048", "16384").CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), "%s", said)
	run := func(ctx context.Context, argv []string, line func(string)) error {
		out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
		line(string(out))
		return err
	}
	tree, err := blockdev.Tree(t.Context(), run, loop)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(tree).To(HaveExactElements(And(HaveField("Path", loop), HaveField("Type", "loop"), HaveField("Number", MatchRegexp(`^\d+:\d+$`)))))
	g.Expect(tree[0].Children).To(HaveExactElements(And(HaveField("Path", loop+"p1"), HaveField("Type", "part"))))
}

func TestARowIsNoTree(t *testing.T) {
	run := func(_ context.Context, _ []string, line func(string)) error {
		line(`{"blockdevices": [{"path": "/dev/sda", "type": "disk"}, {"path": "/dev/md0", "type": "raid1"}]}`)
		return nil
	}
	_, err := blockdev.Tree(t.Context(), run, "/dev/sda")
	NewWithT(t).Expect(err).To(MatchError("lsblk's answer for [/dev/sda] is no tree: it begins with 2 devices"))
}
