// Package policy decides what happens to a host next. [Decide] is a pure function: from
// what is observed ([Observed], plain values) to at most one action, a new status, events
// and a wait. The same values give the same decision.
//
// The phases are a table (phases.go): each has a step, its legal successors and the way
// that a deletion takes from it. Before a phase's step come the concerns of every pass, in
// an order that decide.go gives reasons for. Conditions are computed here too, once at the
// end of a pass.
//
// The package talks to nobody and knows no clock: the time is one of the values. What a
// node shall look like comes from nodespec, what is left to do on a machine from plan.
package policy
