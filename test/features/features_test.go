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

	"github.com/ironflow/ironflow/test/pages"
)

// root is the top of the tree.
const root = "../.."

// named is a test in the page: `package.TestName`, `package.TestName/case`, or
// `file.py::test_name` of the IPA plugin.
var named = regexp.MustCompile("`([a-z0-9/]+)\\.(Test[A-Za-z0-9]*)(?:/([^`]+))?`|`[a-z0-9_/]+\\.py::test_[a-z0-9_]+`")

func TestEveryNamedTestExists(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "features.md"))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(pages.Tests(t, root, string(page))).To(BeNumerically(">", 100), "the page names tests in the form that is looked for")
}

// TestNothingOfTheChecklistIsMissing fails when a feature has no row, neither among
// those that are shown nor among those that are left out with a reason.
func TestNothingOfTheChecklistIsMissing(t *testing.T) {
	g := NewWithT(t)
	page, err := os.ReadFile(filepath.Join(root, "docs", "features.md"))
	g.Expect(err).NotTo(HaveOccurred())
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | "); strings.HasPrefix(line, "| ") && len(cells) == 2 {
			rows[strings.TrimSpace(cells[0])] = strings.TrimSpace(cells[1])
		}
	}
	seen := map[string]bool{}
	for _, p := range checklist {
		g.Expect(seen[p.what]).To(BeFalse(), "twice in the checklist: %s", p.what)
		seen[p.what] = true
		says, there := rows[p.row]
		g.Expect(there).To(BeTrue(), "%s: the row %q is missing from docs/features.md", p.what, p.row)
		g.Expect(says).NotTo(BeEmpty(), "%s: no test, and no reason", p.what)
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
