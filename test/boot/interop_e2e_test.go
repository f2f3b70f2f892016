//go:build e2e

package boot_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/test/needs"
)

// The bootable medium's images, with the real host programs, in the hands of the
// real coreos-installer.
func TestCoreosInstallerTakesBootableImages(t *testing.T) {
	g, path := NewWithT(t), needs.CoreOSInstaller(t)
	s := open(t)
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), path, args...)
		var complaint strings.Builder
		cmd.Stderr = &complaint
		out, err := cmd.Output()
		g.Expect(err).NotTo(HaveOccurred(), "coreos-installer %s: %s", strings.Join(args, " "), complaint.String())
		return string(out)
	}
	keyfile := []byte("[connection]\nid=eth0\n")
	spec := images.Spec{Key: "boot/interop", UID: "1", Ignition: config(t, "host-0"), NetworkKeyfiles: map[string][]byte{"eth0.nmconnection": keyfile}}
	expectKeyfile := func(dir string) {
		t.Helper()
		g.Expect(os.ReadFile(filepath.Join(dir, "eth0.nmconnection"))).To(Equal(keyfile))
	}

	spec.Kargs.Append = []string{"foo=bar"}
	built, err := s.store.Put(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	iso := toFile(t, built.URL)
	g.Expect(run("iso", "ignition", "show", iso)).To(Equal(string(spec.Ignition)))
	g.Expect(run("iso", "kargs", "show", iso)).To(HaveSuffix(" foo=bar\n"))
	dir := t.TempDir()
	run("iso", "network", "extract", "-C", dir, iso)
	expectKeyfile(dir)
	run("iso", "extract", "pxe", "-o", dir, iso)
	g.Expect(filepath.Glob(filepath.Join(dir, "*"))).To(ContainElements(HaveSuffix("vmlinuz"), HaveSuffix("initrd.img"), HaveSuffix("rootfs.img")))

	spec.Format = images.FormatInitrd
	built, err = s.store.Put(t.Context(), spec)
	g.Expect(err).NotTo(HaveOccurred())
	initrd := toFile(t, built.URL)
	g.Expect(run("pxe", "ignition", "unwrap", initrd)).To(Equal(string(spec.Ignition)))
	dir = t.TempDir()
	run("pxe", "network", "unwrap", "-C", dir, initrd)
	expectKeyfile(dir)
	g.Expect(run("dev", "show", "initrd", initrd)).To(And(ContainSubstring("usr/lib/ironflow/ironflow-agent"), ContainSubstring("usr/lib/ironflow/ironflow-step")))
}
