package media_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/media"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	testmedia "github.com/ironflow/ironflow/test/media"
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
	r, err := media.Open(t.Context(), dir, media.Options{})
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
	g.Expect(err).To(MatchError(media.ErrNoMedium))
	g.Expect(err).To(MatchError(And(ContainSubstring("aarch64"), ContainSubstring("s390x 38."), ContainSubstring("broken.iso"))))

	// Added and removed while running.
	put(t, filepath.Join(dir, "arm-aarch64.iso"), "2022-09")
	g.Expect(os.Remove(filepath.Join(dir, "z.iso"))).To(Succeed())
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	_, err = r.Select(t.Context(), "arm64", "")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = r.Select(t.Context(), "s390x", "")
	g.Expect(err).To(MatchError(media.ErrNoMedium))
}

func TestReplacedFileIsRegisteredAnew(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	put(t, path, "2022-09")
	r, err := media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	old, err := r.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	put(t, path, "2023-07.x86_64")
	g.Expect(old.Check()).To(MatchError(media.ErrChanged))
	now, err := r.Select(t.Context(), "", "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(now.SHA256).NotTo(Equal(old.SHA256))
	// The old one can still be read to its end.
	_, err = old.ReadAt(make([]byte, 100), old.Size()-100)
	g.Expect(err).NotTo(HaveOccurred())
}

// versions registers media with these descriptions.
func versions(t *testing.T, g *WithT, described map[string]media.Description) *media.Registry {
	t.Helper()
	dir := t.TempDir()
	for name := range described {
		put(t, filepath.Join(dir, name), "2022-09")
	}
	r, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	r.Describe(described)
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	return r
}

func TestSelectByVersionOrRelease(t *testing.T) {
	g := NewWithT(t)
	r := versions(t, g, map[string]media.Description{
		"a.iso": {Version: "418.1", OpenShiftVersion: "4.18"},
		"b.iso": {Version: "418.2", OpenShiftVersion: "4.18"},
		"c.iso": {Version: "4.19", OpenShiftVersion: "4.20"},
		"d.iso": {Version: "419.5", OpenShiftVersion: "4.19"},
	})
	for _, c := range []struct{ wanted, version, why string }{
		{"418.1", "418.1", "the medium's own version"},
		{"4.18", "418.2", "the newest of the release"},
		{"4.19", "4.19", "a medium's own version comes before another's release"},
		{"4.20", "4.19", "its release"},
		{"", "419.5", "the newest of all"},
	} {
		b, err := r.Select(t.Context(), "", c.wanted)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Version).To(Equal(c.version), c.why)
	}
	_, err := r.Select(t.Context(), "", "4.21")
	g.Expect(err).To(And(MatchError(media.ErrNoMedium), MatchError(ContainSubstring("418.2 4.18"))))
}

// slowly is a context in which hashing a file stops until it may go on.
type slowly struct {
	context.Context
	once            sync.Once
	hashing, mayEnd chan struct{}
}

// Err implements context.Context.
func (s *slowly) Err() error {
	s.once.Do(func() { close(s.hashing) })
	<-s.mayEnd
	return nil
}

// Value keeps what would go round Err away.
func (s *slowly) Value(any) any { return nil }

// A new medium of a gigabyte takes seconds to hash, in which images are built
// over the others.
func TestMediaAreUsableWhileOthersAreHashed(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	put(t, filepath.Join(dir, "old.iso"), "2022-09")
	r, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	put(t, filepath.Join(dir, "new.iso"), "2023-07.x86_64")
	ctx := &slowly{Context: t.Context(), hashing: make(chan struct{}), mayEnd: make(chan struct{})}
	scanned := make(chan error, 1)
	go func() { scanned <- r.Rescan(ctx) }()
	<-ctx.hashing
	selected := make(chan *media.Medium, 1)
	go func() {
		b, _ := r.Select(t.Context(), "", "")
		selected <- b
	}()
	g.Eventually(selected, time.Minute).Should(Receive(HaveField("Path", HaveSuffix("old.iso"))))
	g.Expect(r.List()).To(HaveLen(1))
	close(ctx.mayEnd)
	g.Eventually(scanned, time.Minute).Should(Receive(BeNil()))
	g.Expect(r.List()).To(HaveLen(2))
}

// What was found bad is not read again until it changes.
func TestBadMediaAreHashedOnce(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	path := filepath.Join(dir, "live.iso")
	put(t, path, "2022-09")
	good, err := os.ReadFile(path)
	g.Expect(err).NotTo(HaveOccurred())
	info, err := os.Stat(path)
	g.Expect(err).NotTo(HaveOccurred())
	bad := bytes.Clone(good)
	bad[len(bad)-1]++
	// write changes the file in place, unnoticed but for its time.
	write := func(content []byte, at time.Time) {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		g.Expect(err).NotTo(HaveOccurred())
		_, err = f.Write(content)
		g.Expect(errors.Join(err, f.Close(), os.Chtimes(path, at, at))).To(Succeed())
	}
	write(bad, info.ModTime())
	r, err := media.Open(t.Context(), dir, media.Options{SHA256: map[string]string{
		"live.iso": "5ab68daec527a73a3dfbaeb21e4704202a563b8c5c0dc918e99575eb843ba911",
	}})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.Problems()).To(HaveLen(1))
	write(good, info.ModTime())
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	g.Expect(r.Problems()).To(HaveLen(1), "it was not read")
	write(good, info.ModTime().Add(time.Second))
	g.Expect(r.Rescan(t.Context())).To(Succeed())
	g.Expect(r.Problems()).To(BeEmpty())
	g.Expect(r.List()).To(HaveLen(1))
}

func TestDigestIsChecked(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	put(t, path, "2022-09")
	_, err := media.Open(t.Context(), path, media.Options{SHA256: map[string]string{"live.iso": "00"}})
	g.Expect(err).To(MatchError(ContainSubstring("download the file again")))
	g.Expect(os.WriteFile(path+".sha256", []byte("5ab68daec527a73a3dfbaeb21e4704202a563b8c5c0dc918e99575eb843ba911  live.iso\n"), 0o600)).To(Succeed())
	_, err = media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = media.Open(t.Context(), filepath.Join(t.TempDir(), "none"), media.Options{})
	g.Expect(err).To(HaveOccurred())
}

func TestArchitectureOfTheDemoMedium(t *testing.T) {
	g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
	g.Expect(testmedia.WriteFile(path, testmedia.Options{})).To(Succeed())
	r, err := media.Open(t.Context(), path, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(r.List()[0].Arch).To(Equal("x86_64"))
}

// The kernel and the boot files say for which machine a medium is, whatever the name
// of its file is.
func TestArchitectureOfEveryMedium(t *testing.T) {
	for _, arch := range testmedia.Architectures() {
		t.Run(arch, func(t *testing.T) {
			g, path := NewWithT(t), filepath.Join(t.TempDir(), "live.iso")
			g.Expect(testmedia.WriteFile(path, testmedia.Options{Arch: arch, RootfsBytes: 1 << 20})).To(Succeed())
			r, err := media.Open(t.Context(), path, media.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.List()[0].Arch).To(Equal(arch))
		})
	}
}

// TestMediaOfOneVersion: a host's image must not change from one look to the next.
func TestMediaOfOneVersion(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	const many = 8
	for i := range many {
		name := filepath.Join(dir, "respun-"+string(rune('a'+i))+".iso")
		g.Expect(testmedia.WriteFile(name, testmedia.Options{RootfsBytes: 1<<20 + 2048*i})).To(Succeed())
		at := time.Unix(int64(1000+(i*5)%many), 0)
		g.Expect(os.Chtimes(name, at, at)).To(Succeed())
	}
	r, err := media.Open(t.Context(), dir, media.Options{})
	g.Expect(err).NotTo(HaveOccurred())
	for range 20 {
		m, err := r.Select(t.Context(), "", "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(m.Modified.Unix()).To(Equal(int64(1000+many-1)), "the newest file")
	}
}
