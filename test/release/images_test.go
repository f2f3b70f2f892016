//go:build e2e

package release_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"runtime"
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

// TestWhatCannotBeMadeIsSaid: an image that this computer cannot make is named with what it lacks, before any is built.
func TestWhatCannotBeMadeIsSaid(t *testing.T) {
	other, machine := "arm64", "aarch64"
	if runtime.GOARCH == other {
		other, machine = "amd64", "x86_64"
	}
	bare := programs(t, "engine")
	mmdebstrap := programs(t, "engine", "mmdebstrap")
	type lack struct{ engine, image, arch, path, want string }
	lacks := map[string]lack{
		"no engine":         {"engine-of-nobody", "ironflow", runtime.GOARCH, bare, "engine-of-nobody is not installed: apt-get install buildah"},
		"no mmdebstrap":     {"engine", "ironic-python-agent", runtime.GOARCH, bare, "mmdebstrap is not installed: apt-get install mmdebstrap"},
		"another processor": {"engine", "ironic-python-agent", "riscv64", mmdebstrap, "it is made for amd64 and arm64 only"},
	}
	if _, err := os.Stat("/proc/sys/fs/binfmt_misc/qemu-" + machine); err != nil {
		lacks["no emulation"] = lack{"engine", "ironic-python-agent", other, mmdebstrap, "this computer does not run programs of " + other}
	}
	for name, c := range lacks {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			here := call{env: []string{"VERSION=" + version, "ENGINE=" + c.engine, "ARCHES=" + c.arch, "PATH=" + c.path, "OUT=" + t.TempDir()}}
			told, err := here.run(t, "bash", "../scripts/images.sh", "--lacks", c.image, c.arch)
			g.Expect(err).To(HaveOccurred())
			g.Expect(told).To(HavePrefix(c.want))
			told, err = here.run(t, "bash", "../scripts/images.sh", c.image)
			g.Expect(err).To(HaveOccurred())
			g.Expect(told).To(HavePrefix("ironflow: the image " + c.image + " for " + c.arch + " cannot be built: " + c.want))
		})
	}
}

// programs is a path that has what the scripts run first, and programs of these names that do nothing.
func programs(t *testing.T, names ...string) string {
	t.Helper()
	g, dir := NewWithT(t), t.TempDir()
	for _, name := range []string{"bash", "dirname", "uname"} {
		g.Expect(os.Symlink(needs.Program(t, name, "coreutils"), filepath.Join(dir, name))).To(Succeed())
	}
	for _, name := range names {
		g.Expect(os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755)).To(Succeed())
	}
	return dir
}

// TestAReleaseSaysWhatItLacks at its end and in its notes.
func TestAReleaseSaysWhatItLacks(t *testing.T) {
	g := NewWithT(t)
	out := filepath.Join(t.TempDir(), "release")
	told := call{env: []string{"VERSION=" + version, "ENGINE=engine-of-nobody", "ARCHES=" + runtime.GOARCH, "PLUGIN_PLATFORMS="}}.must(t, "bash", "../scripts/release.sh", needs.Helm(t), out)
	notes, err := os.ReadFile(filepath.Join(out, "NOTES.md"))
	g.Expect(err).NotTo(HaveOccurred())
	for _, image := range []string{"ironflow", "ironflow-agent", "ironflow-cluster", "ironic-python-agent"} {
		why := "the image " + image + " for " + runtime.GOARCH + ": "
		g.Expect(told).To(ContainSubstring("ironflow: not made: " + why))
		g.Expect(string(notes)).To(ContainSubstring("\n- " + why))
		g.Expect(missing(t, out)).To(ContainElement("the image " + image))
	}
}
