// Package client talks Redfish to one BMC. BMCs are weak and their answers hostile:
// a [Client] keeps one session, asks little at a time, bounds what it reads, follows
// no link to another place, and tries no password that was refused.
//
// [New] makes a client of a [Target] without any I/O; a [Pool] keeps one per BMC.
// Every failure is an [Error] whose [Kind] says what to do about it; secrets are in
// none. [Client.Gofish] gives typed access over the same session and limits. What
// the resources mean is the business of others.
package client
