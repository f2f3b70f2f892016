// Package features holds docs/features.md to the code: every test that the page
// names must exist.
package features

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

// root is the top of the tree.
const root = "../.."

// named is a test in the page: `package.TestName` or `package.TestName/case`.
var named = regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9]*)(?:/([^`]+))?`")

func TestEveryNamedTestExists(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "features.md"))
	g.Expect(err).NotTo(HaveOccurred())
	sources := map[string]string{}
	found := named.FindAllStringSubmatch(string(page), -1)
	g.Expect(len(found)).To(BeNumerically(">", 100), "the page names tests in the form that is looked for")
	for _, match := range found {
		folder, test, name := match[1], match[2], match[3]
		if _, read := sources[folder]; !read {
			sources[folder] = tests(t, folder)
		}
		g.Expect(sources[folder]).To(ContainSubstring("func "+test+"("), "%s has no %s", folder, test)
		if name != "" {
			g.Expect(sources[folder]).To(ContainSubstring("\""+name+"\""), "%s of %s has no case %q", test, folder, name)
		}
	}
}

func TestEveryRowNamesATest(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "features.md"))
	g.Expect(err).NotTo(HaveOccurred())
	shown, _, both := strings.Cut(string(page), "## Left out")
	g.Expect(both).To(BeTrue(), "what is left out is named")
	seen := map[string]bool{}
	for line := range strings.Lines(shown) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| feature |") {
			continue
		}
		g.Expect(cells).To(HaveLen(2), line)
		g.Expect(cells[1]).To(MatchRegexp(named.String()), "no test shows %s", cells[0])
		g.Expect(seen[cells[0]] && !strings.Contains(cells[0], "simulated BMC")).To(BeFalse(), "twice: %s", cells[0])
		seen[cells[0]] = true
	}
}

// tests are all Go sources of a package, tests of every tier included.
func tests(t *testing.T, folder string) string {
	t.Helper()
	g := NewWithT(t)
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(folder), "*_test.go"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(files).NotTo(BeEmpty(), "%s has no tests", folder)
	var all strings.Builder
	for _, file := range files {
		raw, err := os.ReadFile(file)
		g.Expect(err).NotTo(HaveOccurred())
		all.Write(raw)
	}
	return all.String()
}
