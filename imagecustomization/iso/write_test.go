package iso_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/test/needs"
)

// written is a medium with two files.
func written(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	NewWithT(t).Expect(iso.Write(&out, "agent_configimage",
		iso.Written{Name: "config.gz", Data: bytes.Repeat([]byte("c"), 5000)}, iso.Written{Name: "b", Data: []byte("bb")})).To(Succeed())
	return out.Bytes()
}

func TestWrittenMedia(t *testing.T) {
	g := NewWithT(t)
	raw := written(t)
	g.Expect(written(t)).To(Equal(raw), "the same files give the same bytes")
	layout, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(layout.VolumeID).To(Equal("agent_configimage"))
	f := layout.File("config.gz")
	g.Expect(f).NotTo(BeNil())
	g.Expect(string(raw[f.Offset:][:f.Size])).To(Equal(strings.Repeat("c", 5000)))
	f = layout.File("b")
	g.Expect(string(raw[f.Offset:][:f.Size])).To(Equal("bb"))
}

// TestOthersReadWrittenMedia: what udev's rules see, and what another reader takes out.
func TestOthersReadWrittenMedia(t *testing.T) {
	blkid, xorriso := needs.Program(t, "blkid", "util-linux"), needs.Program(t, "xorriso", "xorriso")
	g := NewWithT(t)
	file := filepath.Join(t.TempDir(), "written.iso")
	g.Expect(os.WriteFile(file, written(t), 0o600)).To(Succeed())
	out, err := exec.CommandContext(t.Context(), blkid, "-p", "-o", "export", file).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Expect(string(out)).To(And(ContainSubstring("LABEL=agent_configimage\n"), ContainSubstring("TYPE=iso9660\n")))
	to := filepath.Join(t.TempDir(), "config.gz")
	out, err = exec.CommandContext(t.Context(), xorriso, "-indev", file, "-osirrox", "on", "-extract", "/CONFIG.GZ", to).CombinedOutput()
	g.Expect(err).NotTo(HaveOccurred(), string(out))
	g.Expect(string(out)).NotTo(ContainSubstring("FAILURE"))
	raw, err := os.ReadFile(to)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(raw).To(HaveLen(5000))
}

func TestWhatIsNotWritten(t *testing.T) {
	for want, files := range map[string][]iso.Written{
		`file "Config.gz"`:        {{Name: "Config.gz"}},
		`file "a/b"`:              {{Name: "a/b"}},
		`file "a"`:                {{Name: "a"}, {Name: "a"}},
		`file "configuration.gz"`: {{Name: "configuration.gz"}},
	} {
		NewWithT(t).Expect(iso.Write(&bytes.Buffer{}, "label", files...)).To(MatchError(ContainSubstring(want)))
	}
	NewWithT(t).Expect(iso.Write(&bytes.Buffer{}, strings.Repeat("l", 33))).To(MatchError(ContainSubstring("want 1 to 32 characters")))
}
