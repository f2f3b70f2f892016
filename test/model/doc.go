// Package model searches histories of a host for one in which its machine is touched
// unasked, or in which the host waits for nothing.
//
// A [World] is one point of a history: the objects that the API server has, the nodes
// that Ironic has, the machines with what is on their disks, what the controller
// remembers, and what its users have asked for so far. Its moves are what users,
// Ironic, machines and time can do next, and what can go wrong. The controller in it is
// the one that is shipped: whole passes of [host.Rehearsal], over a client and a
// gateway that stand for the world, so that nothing of its order is written down twice.
// A crash ends a pass right after any of its writes.
//
// [Search] walks all histories, the shortest first, each world once: worlds that differ
// in nothing but the clock are one. Budgets bound how many moves of users and how many
// disturbances a history has. What must hold is checked where it could be broken: when
// Ironic takes a request, and in the world in which a host rests (see invariants.go).
//
// Only modelled: Ironic and the machine (ironic.go, machine.go), the watch, which sees
// every change at once, and who is woken by what (wake.go).
package model
