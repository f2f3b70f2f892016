package simulator_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/bmc/simulator"
)

var update = flag.Bool("update", false, "write the table of quirks in docs/machines.md")

// TestDocs keeps the table of quirks in the docs equal to the code.
func TestDocs(t *testing.T) {
	const file, begin, end = "../../../docs/machines.md", "<!-- quirks -->\n", "<!-- end quirks -->"
	g := NewWithT(t)
	raw, err := os.ReadFile(file)
	g.Expect(err).NotTo(HaveOccurred())
	before, rest, ok := strings.Cut(string(raw), begin)
	g.Expect(ok).To(BeTrue(), "the page has no table of quirks")
	table, after, ok := strings.Cut(rest, end)
	g.Expect(ok).To(BeTrue(), "the table of quirks does not end")
	if *update {
		g.Expect(os.WriteFile(file, []byte(before+begin+quirkTable()+end+after), 0o644)).To(Succeed())
		return
	}
	g.Expect(table).To(Equal(quirkTable()), "the table of quirks is out of date: go test ./bmc/simulator -run TestDocs -update")
}

func quirkTable() string {
	var b strings.Builder
	b.WriteString("| quirk | shape | what the BMC does |\n|---|---|---|\n")
	for _, info := range simulator.Quirks {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", info.Quirk, map[bool]string{true: "yes"}[info.Shape], info.Text)
	}
	return b.String()
}
