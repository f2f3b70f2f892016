// Package bmcevents has the BMCs of hosts tell by themselves what happens to their
// machines, and wakes those who wait for it. It keeps one subscription at each BMC, says
// on the kind BMC how that stands (condition Subscribed), and turns alerts into events of
// the host. Where a BMC cannot reach the receiver, its stream is read while something is
// under way on the host.
//
// [Dispatcher] takes what is told. It listens on every replica; on those that do not lead it
// leaves a note on the kind BMC, which the leader reads. What is to be done about a
// subscription is decided in one place ([decide]); package bmc/events does it. Keys are not
// stored: they follow from the hosts' UIDs and BMCs, and a subscription is found by its key.
// At which BMCs there may be some is noted on the kind BMC.
//
// Entry point: [Setup].
package bmcevents
