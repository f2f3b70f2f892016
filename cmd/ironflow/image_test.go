package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/needs"
)

// readOnly runs a program of an image as its pod does: root folder read-only, not root, and one folder that can be written to.
const readOnly = `set -e
mount --bind "$1" "$1"
mkdir -p "$1/var/lib/ironflow"
mount --bind "$2" "$1/var/lib/ironflow"
mount -o remount,ro,bind "$1"
image=$1
shift 2
exec chroot --userspec=65532:65532 --groups= "$image" "$@"`

// shippedImage is the image of `make images`, in a storage of its own.
type shippedImage struct {
	*WithT
	t *testing.T
	// root and data are folders of a pod, out is what the build leaves beside the image.
	root, data, out string
}

func newShippedImage(t *testing.T) *shippedImage {
	t.Helper()
	needs.Program(t, "buildah", "buildah")
	if os.Getuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("the storage of containers needs root here")
		}
		t.Skip("the storage of containers needs root here")
	}
	i := &shippedImage{WithT: NewWithT(t), t: t, data: t.TempDir()}
	dir := t.TempDir()
	file := filepath.Join(dir, "storage.conf")
	i.Expect(os.WriteFile(file, []byte("[storage]\ndriver = \"vfs\"\nrunroot = \""+dir+"/run\"\ngraphroot = \""+dir+"/graph\"\n"), 0o600)).To(Succeed())
	t.Setenv("CONTAINERS_STORAGE_CONF", file)
	t.Setenv("VERSION", "v0.0.1")
	i.out = filepath.Join(dir, "out")
	t.Setenv("OUT", i.out)
	i.command("bash", "../../test/scripts/images.sh", "ironflow")
	container := strings.TrimSpace(i.command("buildah", "from", "--pull-never", "localhost/ironflow:v0.0.1"))
	i.root = strings.TrimSpace(i.command("buildah", "mount", container))
	t.Cleanup(func() { i.command("buildah", "rm", container) })
	i.Expect(os.Chown(i.data, 65532, 65532)).To(Succeed())
	for parent := i.data; parent != os.TempDir() && parent != "/"; parent = filepath.Dir(parent) {
		i.Expect(os.Chmod(parent, 0o755)).To(Succeed())
	}
	return i
}

func (i *shippedImage) command(name string, args ...string) string {
	i.t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	i.Expect(err).NotTo(HaveOccurred(), "%s %v\n%s", name, args, out)
	return string(out)
}

// run runs a program of the image, and returns what it says and its exit code.
func (i *shippedImage) run(args ...string) (string, int) {
	i.t.Helper()
	c := exec.CommandContext(i.t.Context(), "unshare", append([]string{"--mount", "bash", "-c", readOnly, "image", i.root, i.data}, args...)...)
	c.Env = []string{"PATH=/usr/bin:/usr/sbin:/bin:/sbin"}
	out, err := c.CombinedOutput()
	if err != nil {
		i.Expect(c.ProcessState).NotTo(BeNil(), "%v", err)
	}
	return string(out), c.ProcessState.ExitCode()
}

// says expects that a program of the image does its work, and says so.
func (i *shippedImage) says(want string, args ...string) {
	i.t.Helper()
	out, code := i.run(args...)
	i.Expect(code).To(BeZero(), out)
	i.Expect(out).To(ContainSubstring(want))
}

// keepsBackups: a backup is written to the data folder, where there is no other place, and put
// back into an empty one, as docs/backup.md has it done in pods.
func (i *shippedImage) keepsBackups() {
	i.t.Helper()
	const file = "/var/lib/ironflow/backup.tar.gz"
	hubFolder(i.WithT, i.t, i.data, "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d")
	i.command("chown", "-R", "65532:65532", i.data)
	i.says("copied 0 infra-envs, 1 clusters", "/ironflow", "hub", "backup", file)
	i.command("sh", "-c", "mkdir "+i.data+"/old && mv "+i.data+"/hub.sqlite* "+i.data+"/old")
	i.says("put back 0 infra-envs, 1 clusters", "/ironflow", "hub", "restore", file)
	i.says("copied 0 infra-envs, 1 clusters", "/ironflow", "hub", "backup", file)
	left, err := filepath.Glob(filepath.Join(i.data, ".*"))
	i.Expect(err).NotTo(HaveOccurred())
	i.Expect(left).To(BeEmpty(), "temporary files")
}

// downloads: a base image is fetched into the volume, and found in order there.
func (i *shippedImage) downloads() {
	i.t.Helper()
	content := coreosiso.Read(i.t, "2022-09")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
	}))
	defer server.Close()
	sum := sha256.Sum256(content)
	digest := hex.EncodeToString(sum[:])
	const dir = "/var/lib/ironflow/base"
	i.says("live.x86_64.iso: ", "/ironflow", "media", "fetch", server.URL+"/live.x86_64.iso", "--sha256", digest, "--dir", dir)
	i.says(digest, "/ironflow", "media", "list", "--dir", dir)
	i.says("", "/ironflow", "media", "check", "--dir", dir)
}

// TestTheShippedImage builds the image as `make images` does, and uses it as a pod would: no shell, not root, and nothing but the
// data folder can be written to. What the documentation says to do in the pod is done there.
func TestTheShippedImage(t *testing.T) {
	i := newShippedImage(t)
	out, code := i.run("/ironflow", "version")
	i.Expect(code).To(BeZero(), out)
	i.Expect(out).To(HavePrefix("ironflow v0.0.1\n"))
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/usr/bin/env"} {
		i.Expect(filepath.Join(i.root, shell)).NotTo(BeAnExistingFile())
	}
	i.Expect(filepath.Join(i.root, "/etc/ssl/certs/ca-certificates.crt")).To(BeAnExistingFile())
	for _, program := range []string{"/ironflow-agent", "/ironflow-agent-based", "/ironflow-step"} {
		out, code = i.run(program, "--version")
		i.Expect(code).To(BeZero(), "%s: %s", program, out)
	}

	out, code = i.run("/ironflow", "hub", "backup", "/backup.tar.gz")
	i.Expect(code).NotTo(BeZero(), "the root folder cannot be written to: %s", out)
	out, code = i.run("/ironflow", "check", "--ironic-endpoint", "http://127.0.0.1:1")
	i.Expect(code).To(Equal(3), out)
	i.Expect(out).To(And(ContainSubstring("ok       data folder   /var/lib/ironflow can be written to"), ContainSubstring("error    kubernetes"), ContainSubstring("error    base images")))
	i.keepsBackups()
	i.downloads()

	i.Expect(i.command("buildah", "inspect", "--type", "image", "--format", "{{.OCIv1.Config.User}} {{.OCIv1.Config.Labels}}", "localhost/ironflow:v0.0.1")).To(
		And(HavePrefix("65532:65532 "), ContainSubstring("org.opencontainers.image.version:v0.0.1"), ContainSubstring("org.opencontainers.image.source:https://github.com/ironflow/ironflow")))
	i.billOfMaterials()
}
