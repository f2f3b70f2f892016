// Package rotation decides how the password of a BMC is changed. [Decide] is a pure
// function of what was [Observed]: the [Record] of the rotation, the host's Secret,
// and what the BMC takes. It gives one [Action]; package credentials does it and
// comes back. The table of phases is in phases.go, and docs/rotation.md is made of it.
//
// # What is kept, and where
//
// The record is a Secret of its own beside the host's ([RecordName]), not keys of the
// host's Secret. That one is the user's: a controller that renders it from a vault or
// a repository replaces its data as a whole, and would take the only copy of a
// password that the BMC already has. It would also wake the host for each note that we
// write. So the user's Secret is written once per rotation, on condition that nobody
// has changed it, and holds nothing but username and password.
//
// The record keeps the password that was proven last also at rest. When the user's
// Secret is put back to the password before, by a backup or a repository that we did
// not see, there still is a copy of the one that works.
//
// # The rule
//
// A password is stored before it is sent, and kept until another one is proven. What
// may have been sent is never sent again, since BMCs refuse passwords that they had.
// What is not known is found out by logging in: each password once, with the lock-out
// window between.
package rotation
