package reason_test

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/credentials/reason"
	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of docs/rotation.md")

func render(of reason.Subject) string {
	var b strings.Builder
	b.WriteString("| reason | status | what it means | what to do |\n|---|---|---|---|\n")
	for _, info := range reason.All {
		if info.Has(of) {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", info.Reason, info.Status, info.Means, info.Do)
		}
	}
	return b.String()
}

// TestDocs keeps the tables of reasons of docs/rotation.md equal to the code.
func TestDocs(t *testing.T) {
	page := pages.Generated{Root: "../../..", Page: "rotation.md", Package: "./bmc/credentials/reason", Update: *update}
	page.Hold(t, "reasons", render(reason.Password))
	page.Hold(t, "certificate reasons", render(reason.Certificate))
}

// TestReasonsAreATable holds that each reason has a row, and one only, and that a person
// reads there what to do.
func TestReasonsAreATable(t *testing.T) {
	g := gomega.NewWithT(t)
	seen := map[reason.Reason]bool{}
	for _, info := range reason.All {
		g.Expect(seen).NotTo(gomega.HaveKey(info.Reason))
		seen[info.Reason] = true
		g.Expect(info.Reason.Condition("text")).To(gomega.Equal(reason.Condition{Status: info.Status, Reason: info.Reason, Message: "text"}))
		g.Expect(info.Means).To(gomega.HaveSuffix("."), string(info.Reason))
		g.Expect(info.Do).To(gomega.HaveSuffix("."), string(info.Reason))
	}
}
