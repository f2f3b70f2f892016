// Package events hears what BMCs tell. A BMC pushes: [Receiver] takes its
// deliveries, at an address that cannot be guessed and that [Keys] derives for each
// host, and [Keep] looks after the subscription. Or we pull: [Follow] reads the
// stream of a BMC that cannot reach us.
//
// Both give the same to a [Sink]: a [Wake] for whoever waits for the host, and an
// [Alert] for people. An event is never the truth: it causes a read. What may have
// been missed, in a flood or between two connections, is one wake of the kind
// meaning.Look. What events mean is in bmc/events/meaning.
package events
