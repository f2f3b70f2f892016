//go:build e2e

package release_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/realregistry"
)

// TestImagesAreLoadedIntoARegistry by the commands of docs/air-gap.md, from archives as `make release` writes them. Their content is small.
func TestImagesAreLoadedIntoARegistry(t *testing.T) {
	g := NewWithT(t)
	storage(t)
	registry := realregistry.Start(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"ca.crt": string(registry.CA), "config.json": registry.PullSecret(realregistry.Password), "content": "of the test"} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)).To(Succeed())
	}
	site := call{dir: dir, env: []string{"SSL_CERT_FILE=" + filepath.Join(dir, "ca.crt"), "REGISTRY_AUTH_FILE=" + filepath.Join(dir, "config.json")}}
	container := strings.TrimSpace(site.must(t, "buildah", "from", "scratch"))
	site.must(t, "buildah", "copy", container, "content", "/content")
	site.must(t, "buildah", "commit", "--manifest", "localhost/image:v1", container)
	site.must(t, "buildah", "manifest", "push", "--all", "localhost/image:v1", "oci:"+filepath.Join(dir, "image"))
	loaded := 0
	for _, c := range loading(t) {
		if c.Words[0] != "buildah" {
			continue
		}
		if archive := added.FindStringSubmatch(c.String()); archive != nil {
			site.must(t, "tar", "-C", "image", "-cf", archive[2], ".")
		}
		words := strings.Fields(strings.ReplaceAll(c.String(), "docker://registry.site/", "docker://"+registry.Host+"/"))
		site.must(t, words[0], words[1:]...)
		if reference := pushed.FindStringSubmatch(strings.Join(words, " ")); reference != nil {
			site.must(t, "buildah", "pull", reference[2])
			loaded++
		}
	}
	g.Expect(loaded).To(Equal(3))
}
