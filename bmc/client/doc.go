// Package client talks Redfish to one BMC. BMCs are weak and their answers hostile:
// a [Client] keeps one session, asks little at a time, bounds what it reads, follows
// no link to another place, and tries no password that was refused.
//
// [New] makes a client of a [Target] without any I/O; a [Pool] keeps one per BMC.
// Every failure is an [Error] whose [Kind] says what to do about it; secrets are in
// none. What the resources mean is the business of others: they are read into small
// structs of bmc/lenient.
//
// There is no second, typed client beside it. gofish loses a whole resource for one
// wrong type and follows pages without end, panics where an action is refused, and
// reads the service root once more; nobody had a use for it. The contract tests of the
// simulator use it, as a client that is not ours.
package client
