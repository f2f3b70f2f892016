package media_test

import (
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/media"
)

// site is a registry with a mirror of one origin.
type site struct {
	*WithT
	t      *testing.T
	origin *origin
	mirror *media.Mirror
}

func newSite(t *testing.T, edit func(*origin)) *site {
	s := &site{WithT: NewWithT(t), t: t, origin: newOrigin(t, edit)}
	dir := t.TempDir()
	registry, err := media.Open(t.Context(), dir, media.Options{})
	s.Expect(err).NotTo(HaveOccurred())
	s.mirror = &media.Mirror{
		File: filepath.Join(t.TempDir(), "list.yaml"), Dir: dir, Registry: registry,
		Configure: func(d *media.Downloader) { d.Wait = time.Millisecond },
	}
	return s
}

// list writes the configuration with the given entries.
func (s *site) list(images string) {
	s.t.Helper()
	ca := filepath.Join(s.t.TempDir(), "ca.pem")
	s.Expect(os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.origin.Certificate().Raw}), 0o600)).To(Succeed())
	text := fmt.Sprintf("headers: {Authorization: secret}\ncaFile: %s\nimages:\n%s", ca, images)
	s.Expect(os.WriteFile(s.mirror.File, []byte(text), 0o600)).To(Succeed())
}

func (s *site) names() []string {
	var out []string
	for _, b := range s.mirror.Registry.List() {
		out = append(out, filepath.Base(b.Path)+" "+b.Arch+" "+b.Version)
	}
	return out
}

func TestMirrorFollowsItsList(t *testing.T) {
	s := newSite(t, nil)
	s.Expect(os.WriteFile(filepath.Join(s.mirror.Dir, "own.iso"), s.origin.content, 0o600)).To(Succeed())
	entry := func(file, more string) string {
		return fmt.Sprintf("- {url: %q, sha256: %q, file: %s%s}\n", s.origin.URL+"/live.iso?token=x", s.origin.sum, file, more)
	}
	s.list(entry("a.iso", "") + entry("b.iso", `, architecture: arm64, version: "4.18"`))
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(s.names()).To(ConsistOf("own.iso x86_64 36.20220909.dev.0", "a.iso x86_64 36.20220909.dev.0", "b.iso aarch64 4.18"))
	requests := s.origin.requests.Load()
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(s.origin.requests.Load()).To(Equal(requests), "what is there is not fetched again")

	s.list(entry("b.iso", `, architecture: x86_64, version: "4.19", openshiftVersion: "4.20"`))
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(s.names()).To(ConsistOf("own.iso x86_64 36.20220909.dev.0", "b.iso x86_64 4.19"), "a medium of somebody else stays")
	s.Expect(filepath.Join(s.mirror.Dir, "a.iso")).NotTo(BeAnExistingFile())
	b, err := s.mirror.Registry.Select(t.Context(), "x86_64", "4.20")
	s.Expect(err).NotTo(HaveOccurred())
	s.Expect(b.Version).To(Equal("4.19"), "the medium of that release")
}

// A medium that an operator copied into the folder stays his, listed or not.
func TestMirrorKeepsWhatItDidNotFetch(t *testing.T) {
	s := newSite(t, nil)
	path := filepath.Join(s.mirror.Dir, "copied.iso")
	s.Expect(os.WriteFile(path, s.origin.content, 0o600)).To(Succeed())
	s.list(fmt.Sprintf("- {url: %q, sha256: %q}\n", s.origin.URL+"/copied.iso", s.origin.sum))
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(s.origin.requests.Load()).To(BeZero(), "it is there already")
	s.list("  []")
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(path).To(BeAnExistingFile())
	s.Expect(s.names()).To(HaveLen(1))
}

func TestMirrorNamesWhatItCannotGet(t *testing.T) {
	s := newSite(t, nil)
	good := fmt.Sprintf("- {url: %q, sha256: %q}\n", s.origin.URL+"/good.iso", s.origin.sum)
	s.list(fmt.Sprintf("- {url: %q, sha256: %q}\n", s.origin.URL+"/wrong.iso?token=x", strings.Repeat("0", 64)) + good)
	err := s.mirror.Sync(t.Context())
	s.Expect(err).To(MatchError(And(ContainSubstring("/wrong.iso"), ContainSubstring("SHA-256"), Not(ContainSubstring("token")))))
	s.Expect(s.names()).To(ConsistOf(HavePrefix("good.iso")), "the others are there all the same")
}

// A file that is damaged after it was downloaded is fetched again.
func TestMirrorRepairs(t *testing.T) {
	s := newSite(t, nil)
	s.list(fmt.Sprintf("- {url: %q, sha256: %q}\n", s.origin.URL+"/a.iso", s.origin.sum))
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	path := filepath.Join(s.mirror.Dir, "a.iso")
	s.Expect(os.WriteFile(path, append([]byte("x"), s.origin.content[1:]...), 0o600)).To(Succeed())
	s.Expect(s.mirror.Registry.Rescan(t.Context())).To(Succeed())
	s.Expect(s.names()).To(BeEmpty(), "a medium with a wrong digest is not used")
	s.Expect(s.mirror.Sync(t.Context())).To(Succeed())
	s.Expect(s.names()).To(HaveLen(1))
	s.Expect(os.ReadFile(path)).To(Equal(s.origin.content))
}

func TestListsThatAreRefused(t *testing.T) {
	const sum = "0000000000000000000000000000000000000000000000000000000000000000"
	for name, c := range map[string]struct{ text, want string }{
		"no YAML":              {"images: [", "list.yaml"},
		"unknown field":        {"pictures: []", "pictures"},
		"no digest":            {"images: [{url: 'https://x/a.iso'}]", "images[0]: base image https://x/a.iso: its SHA-256"},
		"no ISO":               {"images: [{url: 'https://x/a.img', sha256: '" + sum + "'}]", "must end in .iso"},
		"no URL":               {"images: [{url: 'a.iso', sha256: '" + sum + "'}]", "is not a URL"},
		"unknown architecture": {"images: [{url: 'https://x/a.iso', sha256: '" + sum + "', architecture: vax}]", `architecture "vax" is none of`},
		"twice":                {"images: [{url: 'https://x/a.iso', sha256: '" + sum + "'}, {url: 'https://y/a.iso', sha256: '" + sum + "'}]", "images[1]: the file name a.iso appears twice"},
	} {
		t.Run(name, func(t *testing.T) {
			g, file := NewWithT(t), filepath.Join(t.TempDir(), "list.yaml")
			g.Expect(os.WriteFile(file, []byte(c.text), 0o600)).To(Succeed())
			_, err := media.ReadList(file)
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
		})
	}
	_, err := media.ReadList(filepath.Join(t.TempDir(), "gone.yaml"))
	NewWithT(t).Expect(err).To(MatchError(os.ErrNotExist))
}
