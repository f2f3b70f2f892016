package policy

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/pages"
)

var update = flag.Bool("update", false, "write the generated parts of the documentation")

// TestDocsAreGenerated keeps the tables of the documentation equal to those of
// the code; run with -update to write them.
func TestDocsAreGenerated(t *testing.T) {
	page := pages.Generated{Root: "../../..", Page: "baremetalhost.md", Package: "./controllers/host/policy", Update: *update}
	page.Hold(t, "phases", renderPhases())
	page.Hold(t, "errors", renderErrors())
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
