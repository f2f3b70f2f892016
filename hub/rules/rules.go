// Package rules runs state machines that are written as tables.
//
// A machine is an ordered list of rules. For a trigger, the rules are tried in
// order; the first whose source state and guards fit decides. Rules hold no
// code but their guards, which are named, so that a table can be walked by
// tests and drawn as a diagram. Deciding is pure: applying the decision is the
// caller's work.
package rules

import (
	"errors"
	"fmt"
	"slices"
)

// Same as the target of a rule keeps the state that the object is in.
const Same = ""

// Guard is a named condition on the facts about an object.
type Guard[F any] struct {
	// Name is shown in diagrams, a few words.
	Name string
	// Holds decides; it must not change anything.
	Holds func(F) bool
}

// Not turns a guard around.
func Not[F any](g Guard[F]) Guard[F] {
	return Guard[F]{Name: "not " + g.Name, Holds: func(f F) bool { return !g.Holds(f) }}
}

// Any holds when at least one of the guards does.
func Any[F any](name string, guards ...Guard[F]) Guard[F] {
	return Guard[F]{Name: name, Holds: func(f F) bool {
		return slices.ContainsFunc(guards, func(g Guard[F]) bool { return g.Holds(f) })
	}}
}

// Rule is one line of a machine's table.
type Rule[F any] struct {
	// Trigger is what happened.
	Trigger string
	// From lists the states that the rule applies in.
	From []string
	// To is the state to go to, or [Same].
	To string
	// When lists guards that must all hold.
	When []Guard[F]
	// Effects names what else the caller has to do, in order.
	Effects []string
	// Info is the text for people that goes with the new state; empty keeps
	// the old one when the state is kept.
	Info string
	// Refuse, when not empty, is why the trigger is refused in this state.
	Refuse string
}

// Decision is what a machine says about a trigger.
type Decision struct {
	// To is the state to be in, never empty.
	To string
	// Changed tells that To differs from the state before.
	Changed bool
	// Effects and Info are the rule's.
	Effects []string
	Info    string
}

// Machine is a named table.
type Machine[F any] struct {
	// Name is used in errors and diagrams.
	Name string
	// States are all states that an object can be in.
	States []string
	// Rules in the order in which they are tried.
	Rules []Rule[F]
}

// ErrNoRule tells that the table has no rule for a trigger in a state.
var ErrNoRule = errors.New("not possible in this state")

// RefusedError tells that the table refuses a trigger in a state.
type RefusedError struct {
	State, Why string
}

// Error implements error.
func (e *RefusedError) Error() string { return fmt.Sprintf("refused in state %q: %s", e.State, e.Why) }

// Decide returns what the first fitting rule says. It fails with [ErrNoRule]
// when none fits and with a [RefusedError] when the table refuses.
func (m *Machine[F]) Decide(trigger, from string, facts F) (Decision, error) {
	for _, r := range m.Rules {
		if r.Trigger != trigger || !slices.Contains(r.From, from) || !r.holds(facts) {
			continue
		}
		if r.Refuse != "" {
			return Decision{}, &RefusedError{State: from, Why: r.Refuse}
		}
		to := r.To
		if to == Same {
			to = from
		}
		return Decision{To: to, Changed: to != from, Effects: r.Effects, Info: r.Info}, nil
	}
	return Decision{}, fmt.Errorf("%s %q: %s: %w", m.Name, from, trigger, ErrNoRule)
}

func (r *Rule[F]) holds(facts F) bool {
	return !slices.ContainsFunc(r.When, func(g Guard[F]) bool { return !g.Holds(facts) })
}
