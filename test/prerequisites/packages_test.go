package prerequisites

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/onsi/gomega"
)

// needed is a test's wish for a program of a Debian package.
var needed = regexp.MustCompile(`needs\.Program\([^,]+, "([^"]+)", "([^"]+)"\)`)

// installed reads the packages that `make test` installs by itself.
func installed(t *testing.T) []string {
	script, err := os.ReadFile(filepath.Join(module, "test/scripts/test-tools.sh"))
	gomega.NewWithT(t).Expect(err).NotTo(gomega.HaveOccurred())
	list := regexp.MustCompile(`(?m)^packages=\(([^)]*)\)`).FindSubmatch(script)
	gomega.NewWithT(t).Expect(list).NotTo(gomega.BeNil(), "test-tools.sh names its packages")
	return strings.Fields(string(list[1]))
}

// TestMakeTestInstallsWhatItsTestsNeed: a fresh machine has none of these
// packages, and one that was forgotten is only missed there. Files that other
// tiers build have a constraint in their first lines and are left out.
func TestMakeTestInstallsWhatItsTestsNeed(t *testing.T) {
	g := gomega.NewWithT(t)
	packages := append(installed(t), "mount") // essential in Debian
	found := 0
	g.Expect(filepath.WalkDir(module, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		if err != nil || strings.Contains(string(source), "//go:build ") {
			return err
		}
		for _, wish := range needed.FindAllStringSubmatch(string(source), -1) {
			found++
			g.Expect(packages).To(gomega.ContainElement(wish[2]), "%s needs %s", path, wish[1])
		}
		return nil
	})).To(gomega.Succeed())
	g.Expect(found).To(gomega.BeNumerically(">", 5), "the tests' wishes are found")
}
