// Package tables checks the hub's tables of rules ([rules.Machine]) and draws
// them for docs/hub.md and docs/hub-internals.md.
package tables

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/rules"
)

// Diagram draws the machine as a Mermaid state diagram: one arrow for each
// pair of states, with the triggers that lead over it. Only the given states
// are drawn; none means all.
func Diagram[F any](m *rules.Machine[F], states ...string) string {
	if len(states) == 0 {
		states = m.States
	}
	type arrow struct{ from, to string }
	triggers := map[arrow][]string{}
	var order []arrow
	for _, r := range m.Rules {
		for _, from := range r.From {
			a := arrow{from, r.To}
			if r.To == rules.Same || r.To == from || !slices.Contains(states, from) || !slices.Contains(states, r.To) {
				continue
			}
			if triggers[a] == nil {
				order = append(order, a)
			}
			if !slices.Contains(triggers[a], r.Trigger) {
				triggers[a] = append(triggers[a], r.Trigger)
			}
		}
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, a := range order {
		fmt.Fprintf(&b, "    %s --> %s: %s\n", id(a.from), id(a.to), strings.Join(triggers[a], ", "))
	}
	for _, s := range states {
		if id(s) != s {
			fmt.Fprintf(&b, "    %s: %s\n", id(s), s)
		}
	}
	return b.String()
}

// Table lists the rules as a Markdown table; shown says what shows the rule of a number.
func Table[F any](m *rules.Machine[F], shown func(rule int) string) string {
	var b strings.Builder
	b.WriteString("| trigger | from | to | when | effects | test |\n|---|---|---|---|---|---|\n")
	for i, r := range m.Rules {
		to := r.To
		switch {
		case r.Refuse != "":
			to = "refused: " + r.Refuse
		case to == rules.Same:
			to = "same"
		}
		var guards []string
		for _, g := range r.When {
			if g.Name != "" {
				guards = append(guards, g.Name)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", r.Trigger, strings.Join(r.From, ", "), to,
			strings.Join(guards, "; "), strings.Join(r.Effects, ", "), shown(i))
	}
	return b.String()
}

// id makes a Mermaid identifier of a state.
func id(state string) string { return strings.ReplaceAll(state, "-", "_") }
