// Package simulator is an in-memory Ironic for tests and benchmarks: the part of
// the Bare Metal API that Ironflow uses, with the provision state machine, locks,
// steps, inspection, power, history and delays, but without machines.
//
// A [Server] is an http.Handler; its Transport answers without a network, so
// that it works inside testing/synctest. All delays use the time package, hence
// the bubble's clock there. What it answers is held to the real thing by the
// contract tests of ironic/contract, which run the same cases on both. It counts
// requests by verb and path pattern, and injects faults: failing operations,
// lost agents, a restarted conductor, a lost database, refused or cut requests.
package simulator
