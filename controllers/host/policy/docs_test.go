package policy

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/gomega"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

const docsFile = "../../../docs/baremetalhost.md"

// TestDocsAreGenerated keeps the tables of the documentation equal to those of
// the code; run with -update to write them.
func TestDocsAreGenerated(t *testing.T) {
	g := NewWithT(t)
	raw, err := os.ReadFile(docsFile)
	g.Expect(err).NotTo(HaveOccurred())
	want := string(raw)
	for name, render := range map[string]func() string{"phases": renderPhases, "errors": renderErrors} {
		begin, end := "<!-- begin "+name+" -->\n", "<!-- end "+name+" -->"
		head, rest, found := strings.Cut(want, begin)
		g.Expect(found).To(BeTrue(), "the documentation has no part %q", name)
		_, tail, found := strings.Cut(rest, end)
		g.Expect(found).To(BeTrue(), "part %q does not end", name)
		want = head + begin + render() + end + tail
	}
	if *update {
		g.Expect(os.WriteFile(docsFile, []byte(want), 0o644)).To(Succeed())
		return
	}
	g.Expect(string(raw)).To(Equal(want), "run the test with -update")
}

// label is a state's name in the documentation.
func label(s State) string {
	if s == StateNone {
		return "new"
	}
	return string(s)
}

// node is a state's name in the diagram, which knows no spaces.
func node(s State) string { return strings.ReplaceAll(label(s), " ", "_") }

func renderPhases() string {
	var b strings.Builder
	states := slices.Sorted(maps.Keys(phases))
	b.WriteString("```mermaid\nstateDiagram-v2\n    [*] --> new\n")
	for _, s := range states {
		for _, next := range slices.Sorted(slices.Values(phases[s].next)) {
			fmt.Fprintf(&b, "    %s --> %s\n", node(s), node(next))
		}
	}
	b.WriteString("    deleting --> [*]\n```\n\n")
	b.WriteString("| state | operation is under way in Ironic's | next | a deletion leads to | failure is |\n|---|---|---|---|---|\n")
	for _, s := range states {
		row := phases[s]
		var running, next []string
		for _, r := range row.running {
			running = append(running, string(r))
		}
		for _, n := range row.next {
			next = append(next, label(n))
		}
		deleted := label(row.deleted)
		if row.deleted == s {
			deleted = "its end first"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", label(s), dash(strings.Join(running, ", ")), dash(strings.Join(next, ", ")), deleted, dash(string(row.fails)))
	}
	return b.String()
}

func renderErrors() string {
	var b strings.Builder
	b.WriteString("| errorType | event | from | next attempt |\n|---|---|---|---|\n")
	for _, kind := range slices.Sorted(maps.Keys(errorKinds)) {
		row := errorKinds[kind]
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", kind, row.Reason, row.From, row.Next)
	}
	return b.String()
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
