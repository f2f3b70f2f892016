// Package bmcrotation changes the passwords of hosts' BMCs, and replaces their
// certificates, on request and by schedule. Package bmc/credentials decides and does it;
// here are the Secrets, the host and its Ironic: who shares a Secret, whether the host is
// at rest, what the node is told, what a BMC is trusted by.
//
// There are two controllers, whose keys are the hosts': [Setup] and [SetupCertificates].
// They write the conditions CredentialsCurrent and CertificateCurrent of the host's BMC
// and nothing else of it. A host of which nobody asks for a change, and that never had
// one, is not touched: its Secret is not read for this. [Guard] keeps everybody else from
// logging in meanwhile.
package bmcrotation
