package media_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/media"
	"github.com/ironflow/ironflow/api/hostfile"
)

func TestCheck(t *testing.T) {
	const mounted = "30 1 11:0 / /run/media/iso ro,relatime shared:2 - iso9660 /dev/sr0 ro\n"
	for name, tc := range map[string]struct {
		files   map[string]string
		wantErr string
	}{
		"no medium":        {map[string]string{"proc/1/mountinfo": mounted}, ""},
		"readable":         {map[string]string{"run/media/iso/x": "", "proc/1/mountinfo": mounted, "dev/sr0": "CD001"}, ""},
		"device gone":      {map[string]string{"run/media/iso/x": "", "proc/1/mountinfo": mounted}, "insert it again"},
		"nothing to read":  {map[string]string{"run/media/iso/x": "", "proc/1/mountinfo": mounted, "dev/sr0": "C"}, "/dev/sr0 cannot be read"},
		"not a device":     {map[string]string{"run/media/iso/x": "", "proc/1/mountinfo": "30 1 0:9 / /run/media/iso ro - overlay overlay ro\n"}, ""},
		"mounted below it": {map[string]string{"run/media/iso/x": "", "proc/1/mountinfo": "30 1 11:0 / /run/media/iso/images ro - iso9660 /dev/sr0 ro\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			root := t.TempDir()
			for path, text := range tc.files {
				path = filepath.Join(root, path)
				g.Expect(os.MkdirAll(filepath.Dir(path), 0o755)).To(Succeed())
				g.Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
			}
			err := media.Check(hostfile.Dir{Root: root}, slog.New(slog.DiscardHandler))
			if tc.wantErr == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
		})
	}
}
