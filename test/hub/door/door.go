// Package door has the smallest table of rules in which everything occurs that tables
// have: guards, a refusal, a state that stays. Tests of what works on any table use it.
package door

import "github.com/ironflow/ironflow/hub/rules"

// Facts are what the rules depend on.
type Facts struct{ Open bool }

var isOpen = rules.Guard[Facts]{Name: "open", Holds: func(f Facts) bool { return f.Open }}

// New makes the table of a door that somebody walks through, or loses the key of.
func New() *rules.Machine[Facts] {
	return &rules.Machine[Facts]{
		Name:   "door",
		States: []string{"in", "out", "lost-key"},
		Rules: []rules.Rule[Facts]{
			{Trigger: "walk", From: []string{"out"}, To: "in", When: []rules.Guard[Facts]{isOpen}, Info: "inside", Effects: []string{"light"}},
			{Trigger: "walk", From: []string{"out"}, To: rules.Same},
			{Trigger: "walk", From: []string{"lost-key"}, Refuse: "no key"},
			{Trigger: "lose", From: []string{"in", "out"}, To: "lost-key", When: []rules.Guard[Facts]{rules.Not(isOpen)}, Info: "looking for it"},
		},
	}
}
