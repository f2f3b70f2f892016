// Package host takes BareMetalHosts through their life: it projects what users
// want onto Ironic nodes and what Ironic does onto the hosts' status.
//
// A pass observes (the host, its Secrets, its node as the watch last saw it),
// then alternates two halves until the host has to wait: [policy.Decide] is a pure
// function from plain values to at most one action, a new status, events and a
// wake-up; the executor performs that one idempotent action and adds its result
// to what is known. One patch writes the status; an intent that a call to Ironic
// carries out is written before that call.
//
// Below this package, each importing only those before it: nodespec (what a node
// shall look like), plan (RAID and firmware work), policy (decisions, phases,
// conditions). The package view is what readers (CLI, dashboard, demo) get out of a
// host's status.
//
// Nothing polls. A waiting host is woken by the node watch, by its objects, by
// the hub's progress, or by its phase's own timer, which is an upper bound.
//
// Entry point: [Setup].
package host
