// Package bmcrotation changes the passwords of hosts' BMCs, on request and by schedule.
// Package bmc/credentials decides and does it; here are the Secrets, the host and its
// Ironic: who shares a Secret, whether the host is at rest, what the node is told.
//
// The controller's key is the host's. It writes the condition CredentialsCurrent of the
// host's BMC and nothing else of it. A host of which nobody asks for a change, and that
// never had one, is not touched: its Secret is not read for this.
package bmcrotation
