// Package ironic is the gateway to OpenStack Ironic: the one place of Ironflow
// that speaks the Bare Metal API (version 1, microversions 1.89 to 1.110).
//
// A [Gateway] makes single, idempotent calls about one node and answers in a
// small vocabulary: accepted (nil), busy, rejected, gone or unavailable (see
// [Kind]). It holds no state of a host and decides nothing; whoever calls it
// does. A [Watch] finds out which nodes changed, at a cost that does not grow
// with the fleet, so that nobody has to ask Ironic about a host that waits.
//
// Snapshots ([Node], [Row], [Inventory]) are plain values without client types,
// so that decisions over them can be tested as tables. Secrets never appear in
// errors or logs of this package.
//
// For tests and benchmarks test/ironic/simulator is an Ironic in memory;
// test/ironic/contract holds the cases that both it and a real Ironic pass.
package ironic
