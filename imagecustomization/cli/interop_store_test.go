//go:build e2e

package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/hostprograms"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/iso"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/needs"
)

// served is an image of the store in a file, as a BMC reads it.
func served(t *testing.T, medium string, spec images.Spec, hostPrograms func(string) []overlay.Source) string {
	t.Helper()
	registry, err := media.Open(t.Context(), medium, media.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := images.NewStore(t.Context(), images.Options{
		Media: registry, BaseURL: "http://192.0.2.1", SigningKey: bytes.Repeat([]byte("k"), 32), Programs: hostPrograms,
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := store.Put(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "served.iso")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	image := store.Lookup(strings.TrimPrefix(b.URL, "http://192.0.2.1")).Image
	if _, err := io.Copy(f, image.Reader()); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	return path
}

// programs are host programs that do not compress, so that they need an area of
// their own.
func programs(t *testing.T) func(string) []overlay.Source {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"ironflow-agent", "ironflow-step"} {
		if err := os.WriteFile(filepath.Join(dir, name), incompressible(name+strings.Repeat("0123456789", 60000)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	archives, err := hostprograms.Open(dir, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return archives.ForArch
}

// The images that BMCs get, with host programs behind the host's own archive, are
// media that coreos-installer shows, edits and takes apart.
func TestCoreosInstallerTakesImagesOfTheStore(t *testing.T) {
	path := needs.CoreOSInstaller(t)
	for _, fixture := range coreosiso.Names {
		if fixture == "2020-09" || fixture == "2021-01" {
			continue // no keyfiles
		}
		t.Run(fixture, func(t *testing.T) {
			g, other := NewWithT(t), foreign{t, path}
			dir, medium, config := bench(t, fixture)
			pristine, err := os.ReadFile(medium)
			g.Expect(err).NotTo(HaveOccurred())
			ign, err := os.ReadFile(config)
			g.Expect(err).NotTo(HaveOccurred())
			mainframe := strings.Contains(fixture, "s390x")
			var hostPrograms func(string) []overlay.Source
			if !mainframe {
				hostPrograms = programs(t)
			}
			keyfile := []byte("[connection]\nid=eth0\n")
			spec := images.Spec{Key: "a/b", Ignition: ign, NetworkKeyfiles: map[string][]byte{"eth0.nmconnection": keyfile}}
			if fixture != "2022-09" {
				spec.Kargs.Append = []string{"foo=bar"}
			}
			image := served(t, medium, spec, hostPrograms)
			info, err := os.Stat(image)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(info.Size() > int64(len(pristine))).To(Equal(!mainframe), "the area was moved")

			g.Expect(other.run("iso", "ignition", "show", image)).To(Equal(string(ign)))
			out := t.TempDir()
			other.run("iso", "network", "extract", "-C", out, image)
			g.Expect(os.ReadFile(filepath.Join(out, "eth0.nmconnection"))).To(Equal(keyfile))
			g.Expect(other.run("iso", "kargs", "show", image)).To(Equal(own(t, "kargs", "show", image)))
			if len(spec.Kargs.Append) > 0 {
				g.Expect(other.run("iso", "kargs", "show", image)).To(HaveSuffix(" foo=bar\n"))
			}

			// An edit keeps what the host programs need.
			edited := filepath.Join(dir, "edited.iso")
			copyFile(t, image, edited)
			second := filepath.Join(dir, "second.ign")
			g.Expect(os.WriteFile(second, []byte(`{"ignition":{"version":"3.3.0"}}`), 0o600)).To(Succeed())
			other.run("iso", "ignition", "embed", "-f", "-i", second, edited)
			g.Expect(own(t, "show", "--ignition", edited)).To(Equal(`{"ignition":{"version":"3.3.0"}}`))
			if !mainframe {
				g.Expect(own(t, "show", edited)).To(ContainSubstring("usr/lib/ironflow/ironflow-agent"))
			}

			// It empties the area and leaves it where it is; our reset does the rest.
			other.run("iso", "reset", image)
			raw, err := os.ReadFile(image)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(raw, pristine)).To(Equal(mainframe))
			minimal, ours := filepath.Join(dir, "minimal.iso"), filepath.Join(dir, "ours.iso")
			own(t, "reset", "-o", image, image)
			g.Expect(os.ReadFile(image)).To(Equal(pristine))
			other.run("iso", "extract", "minimal-iso", image, minimal)
			own(t, "minimal", "-o", ours, image)
			rest, settings := apart(t, ours)
			theirRest, theirSettings := apart(t, minimal)
			g.Expect(bytes.Equal(rest, theirRest)).To(BeTrue(), "byte for byte, but for what they indent")
			g.Expect(settings).To(MatchJSON(theirSettings))
		})
	}
}

// apart returns a medium without its kargs.json, and that.
func apart(t *testing.T, path string) (rest, settings []byte) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	layout, err := iso.Parse(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	area := layout.File("coreos/kargs.json").Area()
	settings = bytes.TrimRight(bytes.Clone(raw[area.Offset:area.End()]), "\x00")
	clear(raw[area.Offset:area.End()])
	return raw, settings
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, raw, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
