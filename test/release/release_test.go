//go:build e2e

package release_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/needs"
	"github.com/ironflow/ironflow/test/quickstart"
)

// version is a candidate, which the changelog allows.
const version = quickstart.Version + "-rc.1"

// call is a program that a test runs: with what environment, and in which folder.
type call struct {
	env []string
	dir string
}

// run returns what the program prints, and why it failed.
func (c call) run(t *testing.T, name string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Env, command.Dir = append(os.Environ(), c.env...), c.dir
	out, err := command.CombinedOutput()
	return string(out), err
}

// must runs a program that may not fail.
func (c call) must(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := c.run(t, name, args...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred(), "%s %v\n%s", name, args, out)
	return out
}

// key is a pair of keys in a folder, with the environment of who signs.
func key(t *testing.T) (public string, env []string) {
	t.Helper()
	dir := t.TempDir()
	cosign := needs.Cosign(t)
	env = []string{"COSIGN=" + cosign, "COSIGN_PASSWORD=of-the-test"}
	call{env, dir}.must(t, cosign, "generate-key-pair")
	return filepath.Join(dir, "cosign.pub"), append(env, "COSIGN_KEY="+filepath.Join(dir, "cosign.key"))
}

// storage gives buildah a storage that ends with the test.
func storage(t *testing.T) {
	t.Helper()
	needs.Root(t)
	needs.Program(t, "buildah", "buildah")
	dir := t.TempDir()
	file := filepath.Join(dir, "storage.conf")
	NewWithT(t).Expect(os.WriteFile(file, []byte("[storage]\ndriver = \"vfs\"\nrunroot = \""+dir+"/run\"\ngraphroot = \""+dir+"/graph\"\n"), 0o600)).To(Succeed())
	t.Setenv("CONTAINERS_STORAGE_CONF", file)
}

// TestRelease makes one for this processor, signed: all of it is there, and made twice it is the same.
func TestRelease(t *testing.T) {
	g := NewWithT(t)
	storage(t)
	needs.Program(t, "openssl", "openssl")
	public, env := key(t)
	needs.Program(t, "mmdebstrap", "mmdebstrap")
	out := filepath.Join(t.TempDir(), "release")
	arch := runtime.GOARCH
	release := call{env: append(env, "VERSION="+version, "ARCHES="+arch, "PLUGIN_PLATFORMS=darwin/arm64")}
	release.must(t, "bash", "../scripts/release.sh", needs.Helm(t), out)
	complete(t, out)

	here := call{env: env, dir: out}
	here.must(t, "sha256sum", "--check", "--strict", "SHA256SUMS")
	sums, err := os.ReadFile(filepath.Join(out, "SHA256SUMS"))
	g.Expect(err).NotTo(HaveOccurred())
	entries, err := os.ReadDir(out)
	g.Expect(err).NotTo(HaveOccurred())
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "SHA256SUMS") {
			g.Expect(string(sums)).To(ContainSubstring("  "+e.Name()+"\n"), "all of the release is in the checksums")
		}
	}
	for _, name := range []string{
		"ironflow-" + version, "kubectl-ironflow-" + version,
		"ironflow-" + version + "-image", "ironflow-agent-" + version + "-image", "ironflow-cluster-" + version + "-image",
	} {
		g.Expect(components(t, filepath.Join(out, name+"-linux-"+arch+".cdx.json"))).To(HaveKeyWithValue("stdlib", strings.TrimPrefix(runtime.Version(), "go")), name)
	}
	all := components(t, filepath.Join(out, "ironflow-"+version+"-linux-"+arch+".cdx.json"))
	for _, program := range []string{"ironflow", "ironflow-agent", "ironflow-agent-based", "ironflow-cluster", "ironflow-step", "kubectl-ironflow"} {
		g.Expect(all).To(HaveKeyWithValue(program, version))
	}

	// The same source makes the same files, whatever they are; the signatures alone are of chance.
	again := filepath.Join(t.TempDir(), "again")
	release.must(t, "bash", "../scripts/release.sh", needs.Helm(t), again)
	second, err := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(strings.Split(string(second), "\n")).To(Equal(strings.Split(string(sums), "\n")))

	verified(t, here, public)
	g.Expect(os.WriteFile(filepath.Join(out, "SHA256SUMS"), append(sums, "0  more\n"...), 0o600)).To(Succeed())
	for _, way := range ways(here, public) {
		told, err := here.run(t, way[0], way[1:]...)
		g.Expect(err).To(HaveOccurred(), "a change is noticed: %s", told)
	}
}

// ways are those by which a user verifies a release, as docs/install.md has them.
func ways(c call, public string) [][]string {
	cosign, _ := strings.CutPrefix(c.env[0], "COSIGN=")
	return [][]string{
		{cosign, "verify-blob", "--key", public, "--bundle", "SHA256SUMS.sigstore.json", "--insecure-ignore-tlog", "SHA256SUMS"},
		{"openssl", "dgst", "-sha256", "-verify", public, "-signature", "SHA256SUMS.sig", "SHA256SUMS"},
	}
}

// verified holds the signature against the public key, and finds that another key is not its.
func verified(t *testing.T, c call, public string) {
	t.Helper()
	g := NewWithT(t)
	other, _ := key(t)
	for i, way := range ways(c, public) {
		g.Expect(c.must(t, way[0], way[1:]...)).To(ContainSubstring("Verified OK"))
		wrong := ways(c, other)[i]
		told, err := c.run(t, wrong[0], wrong[1:]...)
		g.Expect(err).To(HaveOccurred(), "another key: %s", told)
	}
}

// components are the versions of what a bill of materials lists, by their names.
func components(t *testing.T, file string) map[string]string {
	t.Helper()
	g := NewWithT(t)
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	var bill struct {
		BOMFormat  string
		Components []struct{ Name, Version string }
	}
	g.Expect(json.Unmarshal(raw, &bill)).To(Succeed())
	g.Expect(bill.BOMFormat).To(Equal("CycloneDX"))
	versions := map[string]string{}
	for _, c := range bill.Components {
		versions[c.Name] = c.Version
	}
	return versions
}
