package media_test

import (
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/media"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/needs"
)

// A medium that was read before and has gone since is not answered for from memory.
func TestALostMediumIsNoticed(t *testing.T) {
	g := NewWithT(t)
	needs.Program(t, "losetup", "util-linux")
	if os.Geteuid() != 0 {
		t.Skip("a loop device needs root")
	}
	medium := filepath.Join(t.TempDir(), "live.iso")
	g.Expect(os.WriteFile(medium, []byte(strings.Repeat("CD001", 1<<20)), 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), "losetup", "--find", "--show", "--read-only", medium).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	device := strings.TrimSpace(string(out))
	defer func() { _ = exec.Command("losetup", "--detach", device).Run() }()

	dir := hostfile.Dir{Root: t.TempDir()}
	for path, text := range map[string]string{"/run/media/iso/x": "", "/proc/1/mountinfo": "30 1 7:0 / /run/media/iso ro,relatime shared:2 - iso9660 " + device + " ro\n"} {
		g.Expect(os.MkdirAll(filepath.Dir(dir.Path(path)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(dir.Path(path), []byte(text), 0o600)).To(Succeed())
	}
	g.Expect(os.MkdirAll(dir.Path("/dev"), 0o755)).To(Succeed())
	g.Expect(os.Symlink(device, dir.Path(device))).To(Succeed())
	holder, err := os.Open(device) // as the mount does: the kernel keeps what was read while somebody has it open
	g.Expect(err).NotTo(HaveOccurred())
	defer holder.Close()
	log := slog.New(slog.DiscardHandler)
	for range 2 { // the second time it is in memory
		g.Expect(media.Check(dir, log)).To(Succeed())
	}
	g.Expect(os.Truncate(medium, 0)).To(Succeed())
	g.Expect(media.Check(dir, log)).To(MatchError(ContainSubstring("insert it again")))
}
