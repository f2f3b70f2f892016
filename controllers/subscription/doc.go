// Package subscription keeps BMCEventSubscriptions: it has BMCs send their events
// to an address of the user's choice.
//
// A subscription is made once, through Ironic's vendor methods, and its id kept
// in the status. Nothing asks BMCs again and again: an existing subscription is
// proven once when this program starts, and again when the host got another node
// (a lost Ironic database, a host that was detached). A subscription that is
// found by destination and context is taken over instead of made twice.
//
// [Decide] holds the policy and is pure.
package subscription
