package preflight_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/bmc/preflight"
	"github.com/ironflow/ironflow/test/pages"
)

var updateDocs = flag.Bool("update", false, "write the table of docs/preflight.md")

// TestDocs keeps the table of docs/preflight.md equal to the code.
func TestDocs(t *testing.T) {
	pages.Generated{Root: "../..", Page: "preflight.md", Package: "./bmc/preflight", Update: *updateDocs}.Hold(t, "reasons", reasons())
}

func reasons() string {
	var b strings.Builder
	b.WriteString("| reason | what is wrong | what to do | without a report |\n|---|---|---|---|\n")
	for _, r := range preflight.Reasons {
		alone := ""
		if r.Alone {
			alone = "yes"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", r.Name, r.Text, r.Next, alone)
	}
	return b.String()
}
