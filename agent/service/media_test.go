package service

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/api/hostfile"
)

// TestMediumWhileInstalling: a hub takes exit code 256 as an answer to its
// repeated order for a failed installation.
func TestMediumWhileInstalling(t *testing.T) {
	g := NewWithT(t)
	dir := hostfile.Dir{Root: t.TempDir()}
	for path, text := range map[string]string{"/run/media/iso/x": "", "/proc/1/mountinfo": "30 1 11:0 / /run/media/iso ro - iso9660 /dev/sr0 ro\n"} {
		g.Expect(os.MkdirAll(filepath.Dir(dir.Path(path)), 0o755)).To(Succeed())
		g.Expect(os.WriteFile(dir.Path(path), []byte(text), 0o600)).To(Succeed())
	}
	a := &agent{cfg: Config{Dir: dir}, log: slog.New(slog.DiscardHandler), installer: &install.Manager{}}
	g.Expect(a.mediaCheck()).To(MatchError(ContainSubstring("the boot medium cannot be read any more")))
	g.Expect(a.foreign.begin()).To(BeNil())
	g.Expect(a.mediaCheck()).To(Succeed())
}
