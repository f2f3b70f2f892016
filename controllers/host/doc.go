// Package host takes BareMetalHosts through their life: it projects what users
// want onto Ironic nodes and what Ironic does onto the hosts' status.
//
// A pass observes (package observe), then alternates two halves until the host has to
// wait: [policy.Decide] is a pure function from plain values to at most one action, a
// new status, events and a wake-up; [execute.Work] carries out that one idempotent
// action and adds its result to what is known. One patch writes the status. What a call
// to Ironic is for is written before that call.
//
// Nothing polls. A waiting host is woken by the node watch, by its objects, by the
// hub's progress, or by its phase's own timer, which is an upper bound (package
// schedule).
//
// docs/architecture.md has a picture of the packages below this one. The package view
// is what readers (CLI, dashboard, demo) get out of a host's status.
//
// Entry point: [Setup].
package host
