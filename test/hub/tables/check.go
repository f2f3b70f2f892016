package tables

import (
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/hub/rules"
)

// Check reports what is wrong with the table: unknown states, duplicates in a
// source list, rules without a source and states that no rule mentions.
func Check[F any](m *rules.Machine[F]) error {
	var problems []error
	seen := map[string]bool{}
	for i, r := range m.Rules {
		where := fmt.Sprintf("%s rule %d (%s)", m.Name, i, r.Trigger)
		if len(r.From) == 0 {
			problems = append(problems, fmt.Errorf("%s has no source state", where))
		}
		if r.To != rules.Same && !slices.Contains(m.States, r.To) {
			problems = append(problems, fmt.Errorf("%s goes to unknown state %q", where, r.To))
		}
		if r.To != rules.Same && r.Info == "" {
			problems = append(problems, fmt.Errorf("%s has no text for people", where))
		}
		here := map[string]bool{}
		for _, from := range r.From {
			if !slices.Contains(m.States, from) {
				problems = append(problems, fmt.Errorf("%s starts at unknown state %q", where, from))
			}
			if here[from] {
				problems = append(problems, fmt.Errorf("%s lists %q twice", where, from))
			}
			here[from], seen[from] = true, true
		}
		seen[r.To] = true
	}
	for _, s := range m.States {
		if !seen[s] {
			problems = append(problems, fmt.Errorf("%s: no rule mentions state %q", m.Name, s))
		}
	}
	return errors.Join(problems...)
}

// Reachable returns the states that can be reached from start over any rule,
// in the order of the table's states.
func Reachable[F any](m *rules.Machine[F], start ...string) []string {
	reached := map[string]bool{}
	todo := slices.Clone(start)
	for len(todo) > 0 {
		state := todo[0]
		todo = todo[1:]
		if reached[state] {
			continue
		}
		reached[state] = true
		for _, r := range m.Rules {
			if r.To != rules.Same && slices.Contains(r.From, state) {
				todo = append(todo, r.To)
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(m.States), func(s string) bool { return !reached[s] })
}
