package media_test

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/media"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/needs"
)

// A drive with a medium, or a volume that one was written to: its entry in /dev has
// a size of 0.
func TestAMediumOnABlockDevice(t *testing.T) {
	g, file := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	put(t, file, "2023-07.x86_64")
	device := needs.LoopDevice(t, file)
	r, err := media.Open(t.Context(), device, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	m, err := r.Select(t.Context(), "x86_64", "")
	g.Expect(err).NotTo(HaveOccurred())
	want := coreosiso.Read(t, "2023-07.x86_64")
	g.Expect(m.Size()).To(BeEquivalentTo(len(want)))
	g.Expect(m.SHA256).To(HavePrefix("a4079e6ffe86"))
	g.Expect(m.Intact()).To(BeTrue())
	g.Expect(m.Check()).To(Succeed())
	got, err := io.ReadAll(io.NewSectionReader(m, 0, m.Size()))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes.Equal(got, want)).To(BeTrue())
}

// A drive whose medium was taken out, or is another one, looks the same from outside.
func TestADeviceWhoseMediumIsGoneIsNotUsed(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	put(t, filepath.Join(dir, "live.iso"), "2023-07.x86_64")
	device := needs.LoopDevice(t, filepath.Join(dir, "live.iso"))
	entry := filepath.Join(dir, "drive.iso") // stands for the drive
	g.Expect(os.Symlink(device, entry)).To(Succeed())
	r, err := media.Open(t.Context(), entry, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	m := r.List()[0]
	g.Expect(m.Check()).To(Succeed())

	put(t, filepath.Join(dir, "other.iso"), "2022-09")
	other := needs.LoopDevice(t, filepath.Join(dir, "other.iso"))
	g.Expect(os.Remove(entry)).To(Succeed())
	g.Expect(os.Symlink(other, entry)).To(Succeed())
	g.Expect(m.Check()).To(MatchError(media.ErrChanged))
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	g.Expect(r.List()[0].Version).To(Equal("36.20220909.dev.0"))
}

func TestWhatIsNeitherAFileNorADevice(t *testing.T) {
	_, err := media.Open(t.Context(), "/dev/null", media.Options{})
	NewWithT(t).Expect(err).To(MatchError(ContainSubstring("neither a file nor a block device")))
	pipe := filepath.Join(t.TempDir(), "pipe.iso")
	if out, err := exec.CommandContext(t.Context(), "mkfifo", pipe).CombinedOutput(); err != nil {
		t.Fatalf("mkfifo: %v: %s", err, out)
	}
	r, err := media.Open(t.Context(), filepath.Dir(pipe), media.Options{})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	NewWithT(t).Expect(r.Problems()).To(HaveKey(pipe))
}
