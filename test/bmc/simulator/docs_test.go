package simulator_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/bmc/simulator"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the table of quirks in docs/machines.md")

// TestDocs keeps the table of quirks in the docs equal to the code.
func TestDocs(t *testing.T) {
	pages.Generated{Root: "../../..", Page: "machines.md", Package: "./test/bmc/simulator", Update: *update}.Hold(t, "quirks", quirkTable())
}

func quirkTable() string {
	var b strings.Builder
	b.WriteString("| quirk | shape | what the BMC does |\n|---|---|---|\n")
	for _, info := range simulator.Quirks {
		shape := ""
		if info.Shape {
			shape = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", info.Quirk, shape, info.Text)
	}
	return b.String()
}
