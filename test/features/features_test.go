// Package features holds docs/features.md to the code: every test that the page
// names must exist, and every line of the checklists that it answers must have a row.
package features

import (
	"regexp"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

const (
	// root is the top of the tree.
	root = "../.."
	// leftOut is the heading of the last table, whose second column holds reasons.
	leftOut = "Left out"
)

// quoted is what stands between signs ` in a cell.
var quoted = regexp.MustCompile("`([^`]+)`")

// row is one feature of the page.
type row struct{ heading, feature, says string }

// left tells that the feature is not there, and says why.
func (r row) left() bool { return r.heading == leftOut }

// tests are the names in the second column, with their cases.
func (r row) tests() (names []string) {
	for _, m := range quoted.FindAllStringSubmatch(r.says, -1) {
		names = append(names, m[1])
	}
	return names
}

// rows are all rows of the page, in their order.
func rows(t *testing.T) (all []row) {
	t.Helper()
	heading := ""
	for line := range strings.Lines(pages.Read(t, root, "features.md")) {
		line = strings.TrimSpace(line)
		if title, is := strings.CutPrefix(line, "## "); is {
			heading = title
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| feature |") {
			continue
		}
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), " | ")
		if len(cells) != 2 {
			t.Fatalf("%d cells: %s", len(cells), line)
		}
		all = append(all, row{heading, strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1])})
	}
	return all
}

func TestEveryNamedTestExists(t *testing.T) {
	NewWithT(t).Expect(pages.Tests(t, root, pages.Read(t, root, "features.md"))).
		To(BeNumerically(">", 100), "the page names tests in the form that is looked for")
}

// TestEveryRowNamesATest: and what it names besides is no test that nobody looks for,
// because it is written in another form.
func TestEveryRowNamesATest(t *testing.T) {
	g := NewWithT(t)
	seen, shown, reasons := map[string]bool{}, 0, 0
	for _, r := range rows(t) {
		g.Expect(r.feature).NotTo(BeEmpty(), "a row without a feature: %s", r.says)
		g.Expect(r.says).NotTo(BeEmpty(), "no test, and no reason: %s", r.feature)
		g.Expect(seen[r.feature] && !strings.Contains(r.feature, "simulated BMC")).To(BeFalse(), "twice: %s", r.feature)
		seen[r.feature] = true
		if r.left() {
			reasons++
			continue
		}
		shown++
		g.Expect(r.tests()).NotTo(BeEmpty(), "no test shows %s", r.feature)
		for _, name := range r.tests() {
			g.Expect(pages.Named(name)).To(BeTrue(), "%s: `%s` is not the name of a test", r.feature, name)
		}
	}
	g.Expect(shown).To(BeNumerically(">", 100))
	g.Expect(reasons).To(BeNumerically(">", 10))
}

// TestEveryRowIsInATable: rows without a head, or right below a line of text, are no table
// where the page is shown.
func TestEveryRowIsInATable(t *testing.T) {
	g := NewWithT(t)
	lines := strings.Split(pages.Read(t, root, "features.md"), "\n")
	for i, line := range lines {
		begins := strings.HasPrefix(line, "|") && (i == 0 || !strings.HasPrefix(lines[i-1], "|"))
		if begins {
			g.Expect(lines[i-1]).To(BeEmpty(), "an empty line is missing before %s", line)
			g.Expect(line).To(HavePrefix("| feature | "), "the table has no head")
			g.Expect(lines[i+1]).To(Equal("|---|---|"), "the table has no head")
		}
		if strings.HasPrefix(line, "## ") {
			g.Expect(lines[i-1]).To(BeEmpty(), "an empty line is missing before %s", line)
		}
	}
}
