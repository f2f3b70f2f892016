package cli

import (
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"
)

func TestLinksForEveryName(t *testing.T) {
	g := NewWithT(t)
	folder := t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, "cp"), []byte("the distribution's"), 0o755)).To(Succeed())
	code, _, errs := call(t, BinaryName, "install-links", folder)
	g.Expect(code).To(BeZero(), errs)
	for _, p := range Programs() {
		target, err := os.Readlink(filepath.Join(folder, p.Name))
		if p.Name == "cp" {
			g.Expect(err).To(HaveOccurred(), "what is there stays")
			continue
		}
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(target).To(Equal(BinaryName))
	}
	code, _, _ = call(t, BinaryName, "install-links", filepath.Join(folder, "missing"))
	g.Expect(code).To(Equal(1))
	code, _, errs = call(t, BinaryName, "install-links")
	g.Expect(code).To(Equal(2))
	g.Expect(errs).To(ContainSubstring("FOLDER"))
}

// TestCopy is what a unit does: cp /usr/bin/agent /hostbin/.
func TestCopy(t *testing.T) {
	g := NewWithT(t)
	folder, target := t.TempDir(), t.TempDir()
	g.Expect(os.WriteFile(filepath.Join(folder, BinaryName), []byte("program"), 0o755)).To(Succeed())
	g.Expect(os.Symlink(BinaryName, filepath.Join(folder, "agent"))).To(Succeed())
	for name, argv := range map[string][]string{
		"into a folder": {"cp", filepath.Join(folder, "agent"), target + "/"},
		"to a file":     {"cp", filepath.Join(folder, "agent"), filepath.Join(target, "agent")},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			code, _, errs := call(t, argv...)
			g.Expect(code).To(BeZero(), errs)
			info, err := os.Lstat(filepath.Join(target, "agent"))
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(info.Mode()).To(Equal(os.FileMode(0o755)), "the program, not the link")
		})
	}
	for name, argv := range map[string][]string{
		"nothing there":         {"cp", filepath.Join(folder, "missing"), target},
		"a folder":              {"cp", folder, target},
		"two files to one":      {"cp", filepath.Join(folder, "agent"), filepath.Join(folder, "agent"), filepath.Join(target, "x")},
		"the target's is away":  {"cp", filepath.Join(folder, "agent"), filepath.Join(target, "missing", "x")},
		"no target, wrong call": {"cp", filepath.Join(folder, "agent")},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, errs := call(t, argv...)
			g := NewWithT(t)
			g.Expect(code).NotTo(BeZero())
			g.Expect(errs).NotTo(BeEmpty())
		})
	}
}
