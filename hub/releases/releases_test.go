package releases_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/releases"
)

const file = `
release_images:
- {openshift_version: "4.19", version: 4.19.9, cpu_architecture: x86_64, url: registry.example/release@sha256:a}
- {openshift_version: "4.20", version: 4.20.0-rc.2, cpu_architecture: x86_64, url: registry.example/release@sha256:b}
- {openshift_version: "4.20", version: 4.20.9, cpu_architecture: x86_64, url: registry.example/release@sha256:c, support_level: maintenance}
- {openshift_version: "4.20", version: 4.20.10, cpu_architecture: x86_64, url: registry.example/release@sha256:d, default: true}
- {openshift_version: "4.20", version: 4.20.10, cpu_architecture: arm64, url: registry.example/release@sha256:e}
- {openshift_version: "4.21", version: 4.21.0-rc.1, cpu_architecture: multi, cpu_architectures: [x86_64, arm64], url: registry.example/release@sha256:f}
release_sources:
- {openshift_version: "4.20", multi_cpu_architectures: [], upgrade_channels: [{cpu_architecture: x86_64, channels: [stable]}]}
`

func TestVersions(t *testing.T) {
	g := NewWithT(t)
	c, err := releases.Parse([]byte(file))
	g.Expect(err).NotTo(HaveOccurred())
	all := c.Versions("", false)
	g.Expect(slices.Sorted(maps.Keys(all))).To(Equal([]string{"4.19.9", "4.20.0-rc.2", "4.20.10", "4.20.9", "4.21.0-rc.1"}))
	g.Expect(all["4.20.10"].CPUArchitectures).To(Equal([]string{"arm64", "x86_64"}))
	g.Expect(all["4.20.10"].Default).To(BeTrue())
	g.Expect(all["4.20.9"].SupportLevel).To(Equal("maintenance"))
	g.Expect(all["4.21.0-rc.1"].SupportLevel).To(Equal("beta"))
	g.Expect(slices.Sorted(maps.Keys(c.Versions("", true)))).To(Equal([]string{"4.19.9", "4.20.10", "4.21.0-rc.1"}), "by numbers, not by letters")
	g.Expect(slices.Sorted(maps.Keys(c.Versions("4.20.", true)))).To(Equal([]string{"4.20.10"}))
	g.Expect(c.Sources).To(HaveLen(1))
}

func TestFind(t *testing.T) {
	c, err := releases.Parse([]byte(file))
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	for name, tc := range map[string]struct{ version, architecture, want string }{
		"a version":                           {"4.20.9", "x86_64", "registry.example/release@sha256:c"},
		"the newest one of a stream":          {"4.20", "x86_64", "registry.example/release@sha256:d"},
		"another architecture, by both words": {"4.20.10", "aarch64", "registry.example/release@sha256:e"},
		"one for several":                     {"4.21", "arm64", "registry.example/release@sha256:f"},
		"all of them at once":                 {"4.21", "multi", "registry.example/release@sha256:f"},
		"not for this architecture":           {"4.19.9", "arm64", ""},
		"an unknown version":                  {"4.2", "x86_64", ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			image, ok := c.Find(tc.version, tc.architecture)
			g.Expect(image.URL).To(Equal(tc.want))
			g.Expect(ok).To(Equal(tc.want != ""))
		})
	}
}

func TestAListOfImagesAloneIsTakenToo(t *testing.T) {
	g := NewWithT(t)
	c, err := releases.Parse([]byte(`[{"openshift_version":"4.20","version":"4.20.1","cpu_architecture":"x86_64","url":"registry.example/release:4.20.1"}]`))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Versions("", false)).To(HaveKey("4.20.1"))
}

func TestWhatIsNoCatalog(t *testing.T) {
	for name, text := range map[string]string{
		"no YAML":       "\t",
		"misspelt":      `release_image: []`,
		"without a url": `release_images: [{openshift_version: "4.20", version: 4.20.1, cpu_architecture: x86_64}]`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := releases.Parse([]byte(text))
			NewWithT(t).Expect(err).To(HaveOccurred())
		})
	}
}

func TestTheFileIsReadAgainWhenItChanges(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "releases.yaml")
	f := &releases.File{Path: path}
	_, err := f.Catalog()
	g.Expect(err).To(MatchError(ContainSubstring(path)))
	g.Expect(os.WriteFile(path, []byte(file), 0o600)).To(Succeed())
	c, err := f.Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Images).To(HaveLen(6))
	g.Expect(os.WriteFile(path, []byte("[]"), 0o600)).To(Succeed())
	g.Expect(os.Chtimes(path, time.Time{}, time.Now().Add(time.Hour))).To(Succeed())
	c, err = f.Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Images).To(BeEmpty())
	c, err = (*releases.File)(nil).Catalog()
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(c.Versions("", false)).To(BeEmpty())
}
