//go:build e2e

package release_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/hub/realregistry"
	"github.com/ironflow/ironflow/test/needs"
)

// TestImagesOfAnotherProcessor are built without emulation, since nothing of them runs here; that of the agent has the links of its names.
func TestImagesOfAnotherProcessor(t *testing.T) {
	g := NewWithT(t)
	storage(t)
	out := t.TempDir()
	call{env: []string{"VERSION=" + version, "ARCHES=amd64 arm64", "OUT=" + out}}.must(t, "bash", "../scripts/images.sh", "ironflow-agent", "ironflow-cluster")
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		for image, program := range map[string]string{"ironflow-agent": "/usr/bin/agent", "ironflow-cluster": "/usr/bin/ironflow-cluster"} {
			container := strings.TrimSpace(call{}.must(t, "buildah", "from", "--pull-never", "--arch", arch, "localhost/"+image+":"+version))
			root := strings.TrimSpace(call{}.must(t, "buildah", "mount", container))
			// A link of the image is one of its own root.
			path, err := filepath.EvalSymlinks(filepath.Join(root, program))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(path).To(HavePrefix(root))
			file, err := elf.Open(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(file.Machine).To(Equal(machine), "%s for %s", image, arch)
			g.Expect(file.Close()).To(Succeed())
			call{}.must(t, "buildah", "rm", container)
			g.Expect(components(t, filepath.Join(out, image+"-"+version+"-image-linux-"+arch+".cdx.json"))).To(HaveKeyWithValue(image, version))
		}
	}
}

// TestSignedImages pushes an image to a registry that asks who one is, signed; the same source makes the same image again.
func TestSignedImages(t *testing.T) {
	g := NewWithT(t)
	storage(t)
	registry := realregistry.Start(t)
	public, env := key(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"ca.crt": string(registry.CA), "config.json": registry.PullSecret(realregistry.Password)} {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600)).To(Succeed())
	}
	c := call{env: append(env, "VERSION="+version, "REGISTRY="+registry.Host+"/ironflow", "PUSH=1", "OUT="+dir,
		"SSL_CERT_FILE="+filepath.Join(dir, "ca.crt"), "REGISTRY_AUTH_FILE="+filepath.Join(dir, "config.json"), "DOCKER_CONFIG="+dir)}
	digest := func() string {
		c.must(t, "bash", "../scripts/images.sh", "ironflow-cluster")
		raw, err := os.ReadFile(filepath.Join(dir, "ironflow-cluster.digest"))
		g.Expect(err).NotTo(HaveOccurred())
		return strings.TrimSpace(string(raw))
	}
	first := digest()
	g.Expect(digest()).To(Equal(first))
	image := registry.Host + "/ironflow/ironflow-cluster"
	other, _ := key(t)
	verify := func(public string) (string, error) {
		return c.run(t, needs.Cosign(t), "verify", "--key", public, "--insecure-ignore-tlog", image+"@"+first)
	}
	told, err := verify(public)
	g.Expect(err).NotTo(HaveOccurred(), told)
	told, err = verify(other)
	g.Expect(err).To(HaveOccurred(), "another key: %s", told)
}

// TestAKeyWithoutARegistry: an image is signed where it was pushed to.
func TestAKeyWithoutARegistry(t *testing.T) {
	needs.Program(t, "buildah", "buildah")
	told, err := call{env: []string{"VERSION=" + version, "COSIGN_KEY=cosign.key"}}.run(t, "bash", "../scripts/images.sh", "ironflow-cluster")
	g := NewWithT(t)
	g.Expect(err).To(HaveOccurred())
	g.Expect(told).To(ContainSubstring("COSIGN_KEY needs PUSH=1"))
}
