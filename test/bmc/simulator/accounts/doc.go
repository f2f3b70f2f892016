// Package accounts keeps the users of a simulated BMC: their passwords and the
// policy that new ones must meet, wrong tries and the lock-out that follows, and
// passwords that must be changed first.
//
// A [Service] is plain memory without a lock and without a clock: the simulator
// guards it and tells it the time. How accounts look in Redfish is not known here.
package accounts
