package rotation

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of docs/rotation.md")

// order is that of the page.
var order = []Phase{Rested, Staged, Setting, Finding, Promoting, Telling, Checking, Quarantined}

func label(p Phase) string {
	if p == Rested {
		return "at rest"
	}
	return string(p)
}

func renderPhases() string {
	var b strings.Builder
	b.WriteString("| phase | what the BMC may have | what is done then, also by the next program after a crash | then |\n|---|---|---|---|\n")
	for _, p := range order {
		var next []string
		for _, n := range phases[p].next {
			next = append(next, label(n))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", label(p), phases[p].stored, phases[p].does, strings.Join(next, ", "))
	}
	return b.String()
}

func renderMarks() string {
	seen, names := map[string]bool{}, []string{}
	for _, m := range marks {
		if !seen[m.by] {
			seen[m.by] = true
			names = append(names, m.by)
		}
	}
	return "Signs are known of " + strings.Join(names, ", ") + "; an owner that is no host counts as well.\n"
}

// TestDocs keeps the generated parts of docs/rotation.md equal to the code.
func TestDocs(t *testing.T) {
	gomega.NewWithT(t).Expect(order).To(gomega.HaveLen(len(phases)))
	page := pages.Generated{Root: "../../..", Page: "rotation.md", Package: "./bmc/credentials/rotation", Update: *update}
	page.Hold(t, "phases", renderPhases())
	page.Hold(t, "managers", renderMarks())
}
