package base_test

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/base"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/media"
)

func put(t *testing.T, path, fixture string) {
	t.Helper()
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, coreosiso.Read(t, fixture), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryOfBases(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	put(t, filepath.Join(dir, "old-x86_64.iso"), "2021-12")
	put(t, filepath.Join(dir, "new.iso"), "2023-07.x86_64")
	put(t, filepath.Join(dir, "z.iso"), "2023-07.s390x")
	g.Expect(os.WriteFile(filepath.Join(dir, "broken.iso"), []byte("no ISO"), 0o600)).To(Succeed())
	r, err := base.Open(t.Context(), dir, base.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.List()).To(HaveLen(3))
	g.Expect(r.Problems()).To(HaveKey(HaveSuffix("broken.iso")))

	b, err := r.Select(t.Context(), "amd64", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Version).To(Equal("38.20230718.dev.0"), "the newest wins")
	g.Expect(b.SHA256).To(HavePrefix("a4079e6ffe86"))
	b, err = r.Select(t.Context(), "x86_64", "35.20211216.dev.0")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Path).To(HaveSuffix("old-x86_64.iso"))
	b, err = r.Select(t.Context(), "s390x", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Path).To(HaveSuffix("z.iso"))
	_, err = r.Select(t.Context(), "aarch64", "")
	g.Expect(err).To(MatchError(base.ErrNoBase))
	g.Expect(err).To(MatchError(And(ContainSubstring("aarch64"), ContainSubstring("s390x 38."), ContainSubstring("broken.iso"))))

	// Added and removed while running.
	put(t, filepath.Join(dir, "arm-aarch64.iso"), "2022-09")
	g.Expect(os.Remove(filepath.Join(dir, "z.iso"))).To(Succeed())
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	_, err = r.Select(t.Context(), "arm64", "")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.Select(t.Context(), "s390x", "")
	g.Expect(err).To(MatchError(base.ErrNoBase))
}

func TestReplacedFileIsRegisteredAnew(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	put(t, path, "2022-09")
	r, err := base.Open(t.Context(), path, base.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	old, err := r.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	put(t, path, "2023-07.x86_64")
	g.Expect(old.Check()).To(MatchError(base.ErrChanged))
	now, err := r.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now.SHA256).NotTo(Equal(old.SHA256))
	// The old one can still be read to its end.
	_, err = old.ReadAt(make([]byte, 100), old.Size()-100)
	g.Expect(err).NotTo(HaveOccurred())
}

func TestDigestIsChecked(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	put(t, path, "2022-09")
	_, err := base.Open(t.Context(), path, base.Options{SHA256: map[string]string{"live.iso": "00"}})
	g.Expect(err).To(MatchError(ContainSubstring("download the file again")))
	g.Expect(os.WriteFile(path+".sha256", []byte("5ab68daec527a73a3dfbaeb21e4704202a563b8c5c0dc918e99575eb843ba911  live.iso\n"), 0o600)).To(Succeed())
	_, err = base.Open(t.Context(), path, base.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = base.Open(t.Context(), filepath.Join(t.TempDir(), "none"), base.Options{})
	g.Expect(err).To(HaveOccurred())
}

func TestArchitectureOfTheDemoMedium(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	g.Expect(media.WriteFile(path, media.Options{})).To(Succeed())
	r, err := base.Open(t.Context(), path, base.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.List()[0].Arch).To(Equal("x86_64"))
}
