package quirks_test

import (
	"cmp"
	"flag"
	"fmt"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/quirks"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the tables of docs/quirks.md")

// TestDocs keeps the tables of docs/quirks.md equal to the code and to quirks.yaml.
func TestDocs(t *testing.T) {
	page := pages.Generated{Root: "../..", Page: "quirks.md", Package: "./bmc/quirks", Update: *update}
	page.Hold(t, "effects", effects())
	page.Hold(t, "quirks", table())
}

// TestTheExampleCanBeRead: the rows that the page shows are rows.
func TestTheExampleCanBeRead(t *testing.T) {
	g := NewWithT(t)
	_, rest, _ := strings.Cut(pages.Read(t, "../..", "quirks.md"), "```yaml\n")
	example, _, ok := strings.Cut(rest, "```")
	g.Expect(ok).To(BeTrue(), "the page has no example")
	rows, err := quirks.Parse([]byte(example))
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(quirks.New(rows).Match(quirks.Identity{Vendor: "Supermicro", Model: "SYS-619C", Version: "1.73.6"})).To(ContainElement(HaveField("ID", rows[0].ID)))
}

func effects() string {
	var b strings.Builder
	b.WriteString("| effect | means | value | by |\n|---|---|---|---|\n")
	for _, e := range quirks.Effects {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", e.Effect, e.Text, cmp.Or(e.Value, "-"), e.By)
	}
	b.WriteString("\nCapabilities that a quirk can be about: `" + strings.Join(quirks.Capabilities, "`, `") + "`.\n")
	return b.String()
}

func table() string {
	var b strings.Builder
	b.WriteString("| id | BMC | effect | by | what is seen, what to do | source |\n|---|---|---|---|---|---|\n")
	for _, r := range quirks.New().Rows() {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s | %s |\n", r.ID, about(r), strings.TrimSpace(string(r.Effect)+" "+r.Value), r.By, r.Advice, r.Source)
	}
	return b.String()
}

// about names the BMCs of a row.
func about(r quirks.Row) string {
	if r.General() {
		return "every BMC"
	}
	var parts []string
	for _, part := range []string{r.Vendor, r.Manager, r.Model, r.Firmware} {
		if part != "" {
			parts = append(parts, "`"+strings.ReplaceAll(part, "|", "\\|")+"`")
		}
	}
	return strings.Join(parts, " ")
}
