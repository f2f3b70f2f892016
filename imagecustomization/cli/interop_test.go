//go:build e2e

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/embedarea"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
	"github.com/ironflow/ironflow/test/ignitioncheck"
	"github.com/ironflow/ironflow/test/needs"
)

// foreign runs the real coreos-installer.
type foreign struct {
	t    *testing.T
	path string
}

func (f foreign) run(args ...string) string {
	f.t.Helper()
	out, err := exec.CommandContext(f.t.Context(), f.path, args...).Output()
	if err != nil {
		f.t.Fatalf("coreos-installer %s: %v", strings.Join(args, " "), err)
	}
	return string(out)
}

func own(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t.Context(), args...)
	if err != nil {
		t.Fatalf("images %s: %v", strings.Join(args, " "), err)
	}
	return out
}

// What we write, coreos-installer shows, edits and resets, and the other way
// round.
func TestCoreosInstallerAgrees(t *testing.T) {
	path := needs.CoreOSInstaller(t)
	big := `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"data:,` + strings.Repeat("0123456789", 60000) + `"}}]}}`
	for _, fixture := range coreosiso.Names {
		t.Run(fixture, func(t *testing.T) {
			g, other := NewWithT(t), foreign{t, path}
			dir, base, config := bench(t, fixture)
			pristine, err := os.ReadFile(base)
			g.Expect(err).NotTo(HaveOccurred())
			small, err := os.ReadFile(config)
			g.Expect(err).NotTo(HaveOccurred())
			iso := filepath.Join(dir, "1.iso")

			own(t, "embed", "--ignition", config, "-o", iso, base)
			g.Expect(other.run("iso", "ignition", "show", iso)).To(Equal(string(small)))
			other.run("iso", "reset", iso)
			g.Expect(os.ReadFile(iso)).To(Equal(pristine))

			large := filepath.Join(dir, "large.ign")
			g.Expect(os.WriteFile(large, incompressible(big), 0o600)).To(Succeed())
			if !strings.Contains(fixture, "s390x") {
				own(t, "embed", "--ignition", large, "-o", iso, base)
				g.Expect(other.run("iso", "ignition", "show", iso)).To(Equal(string(incompressible(big))))
				other.run("iso", "ignition", "embed", "-f", "-i", config, iso)
				g.Expect(own(t, "show", "--ignition", iso)).To(Equal(string(small)))
				own(t, "reset", "-o", iso, iso)
				g.Expect(os.ReadFile(iso)).To(Equal(pristine), "a moved area goes back")
			}
			if fixture == "2020-09" {
				return
			}
			own(t, "kargs", "set", "-a", "foo=bar", "-o", iso, base)
			other.run("iso", "kargs", "modify", "-a", "baz=1", iso)
			g.Expect(own(t, "kargs", "show", iso)).To(And(Equal(other.run("iso", "kargs", "show", iso)), HaveSuffix("foo=bar baz=1\n")))
			g.Expect(own(t, "kargs", "show", "--default", iso)).To(Equal(other.run("iso", "kargs", "show", "--default", base)))
			if fixture == "2021-01" {
				return
			}
			keyfile := filepath.Join(dir, "eth0.nmconnection")
			g.Expect(os.WriteFile(keyfile, []byte("[connection]\nid=eth0\n"), 0o600)).To(Succeed())
			own(t, "network", "embed", "-k", keyfile, "-o", iso, base)
			out := t.TempDir()
			other.run("iso", "network", "extract", "-C", out, iso)
			g.Expect(os.ReadFile(filepath.Join(out, "eth0.nmconnection"))).To(BeEquivalentTo("[connection]\nid=eth0\n"))

			theirs := filepath.Join(dir, "theirs.iso")
			other.run("iso", "extract", "minimal-iso", "--rootfs-url", "http://x/y", base, theirs)
			own(t, "minimal", "--rootfs-url", "http://x/y", "-o", iso, base)
			g.Expect(other.run("iso", "kargs", "show", iso)).To(Equal(own(t, "kargs", "show", theirs)))
		})
	}
}

// Arguments that moved with their configurations, coreos-installer reads, edits and
// resets in their new place; we take them back.
func TestCoreosInstallerFindsArgumentsThatMoved(t *testing.T) {
	g, other := NewWithT(t), foreign{t, needs.CoreOSInstaller(t)}
	for _, fixture := range []string{"2022-09", "2023-07.x86_64"} {
		dir, base, _ := bench(t, fixture)
		pristine, err := os.ReadFile(base)
		g.Expect(err).NotTo(HaveOccurred())
		iso, long := filepath.Join(dir, "1.iso"), "a="+strings.Repeat("x", 1500)
		own(t, "kargs", "set", "-a", long, "-o", iso, base)
		g.Expect(other.run("iso", "kargs", "show", iso)).To(HaveSuffix(" " + long + "\n"))
		other.run("iso", "kargs", "modify", "-a", "b=2", iso)
		g.Expect(own(t, "kargs", "show", iso)).To(HaveSuffix(" " + long + " b=2\n"))
		other.run("iso", "kargs", "reset", iso)
		g.Expect(own(t, "kargs", "show", iso)).To(Equal(own(t, "kargs", "show", base)))
		own(t, "reset", "-o", iso, iso)
		g.Expect(os.ReadFile(iso)).To(Equal(pristine))
	}
}

// What we customize, coreos-installer shows and resets.
func TestCoreosInstallerReadsOurCustomizations(t *testing.T) {
	g, other, in := NewWithT(t), foreign{t, needs.CoreOSInstaller(t)}, files(t, inputs)
	dir, base, _ := bench(t, "2023-07.x86_64")
	pristine, err := os.ReadFile(base)
	g.Expect(err).NotTo(HaveOccurred())
	iso, initrd := filepath.Join(dir, "1.iso"), filepath.Join(dir, "out.img")
	own(t, append(append([]string{"customize", "-o", iso}, whole(in)...), base)...)
	g.Expect(other.run("iso", "ignition", "show", iso)).To(Equal(own(t, "show", "--ignition", iso)))
	other.run("iso", "network", "extract", "-C", dir, iso)
	g.Expect(os.ReadFile(filepath.Join(dir, "eth0.nmconnection"))).To(BeEquivalentTo(inputs["eth0.nmconnection"]))
	other.run("iso", "reset", iso)
	g.Expect(os.ReadFile(iso)).To(Equal(pristine))

	own(t, append(append([]string{"pxe", "customize", "-o", initrd}, whole(in)...), baseInitrd(t))...)
	g.Expect(other.run("pxe", "ignition", "unwrap", initrd)).To(Equal(own(t, "pxe", "ignition", "unwrap", initrd)))
	// And the other way round, with the installer's own files in it.
	theirs := filepath.Join(dir, "theirs.iso")
	other.run(append(append([]string{"iso", "customize", "-o", theirs}, whole(in)...), base)...)
	ignitioncheck.Valid(t, []byte(own(t, "show", "--ignition", theirs)))
}

// What we put behind an initrd, coreos-installer takes apart.
func TestCoreosInstallerReadsOurInitrd(t *testing.T) {
	g, other, dir := NewWithT(t), foreign{t, needs.CoreOSInstaller(t)}, t.TempDir()
	config, keyfile := `{"ignition":{"version":"3.2.0"}}`, "[connection]\nid=eth0\n"
	raw, err := embedarea.Content{Ignition: []byte(config), Keyfiles: map[string][]byte{"eth0": []byte(keyfile)}}.Archive()
	g.Expect(err).NotTo(HaveOccurred())
	initrd := filepath.Join(dir, "host.initrd")
	g.Expect(os.WriteFile(initrd, raw, 0o600)).To(Succeed())
	g.Expect(other.run("pxe", "ignition", "unwrap", initrd)).To(Equal(config))
	other.run("pxe", "network", "unwrap", "-C", dir, initrd)
	g.Expect(os.ReadFile(filepath.Join(dir, "eth0.nmconnection"))).To(BeEquivalentTo(keyfile))
}

// incompressible spoils the text's repetitions, so that it needs a larger area.
func incompressible(text string) []byte {
	out := []byte(text)
	state := uint32(1)
	for i := range out {
		if out[i] >= '0' && out[i] <= '9' && i > 100 {
			state = state*1664525 + 1013904223
			out[i] = "0123456789abcdefghijklmnopqrstuv"[state>>27]
		}
	}
	return out
}

// The same consoles are refused by both.
func TestCoreosInstallerKnowsTheSameConsoles(t *testing.T) {
	program := needs.CoreOSInstaller(t)
	_, medium, _ := bench(t, "2023-07.x86_64")
	for console, want := range consoles {
		t.Run(console, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out.iso")
			said, err := exec.CommandContext(t.Context(), program, "iso", "customize", "--dest-console="+console, "-o", out, medium).CombinedOutput()
			NewWithT(t).Expect(err == nil).To(Equal(want), "%s", said)
		})
	}
}
