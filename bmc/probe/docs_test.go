package probe_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/bmc/probe"
	"github.com/ironflow/ironflow/test/pages"
)

// TestDocs keeps the table of capabilities in docs/bmc.md equal to the code.
func TestDocs(t *testing.T) {
	var table strings.Builder
	table.WriteString("| capability | means | proof |\n|---|---|---|\n")
	for _, row := range probe.Capabilities {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", row.Name, row.Text, row.Proof)
	}
	pages.Generated{Root: "../..", Page: "bmc.md", Package: "./bmc/probe", Update: *update}.Hold(t, "capabilities", table.String())
}
