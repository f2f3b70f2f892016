// Package ipa is ironic-python-agent's protocol in Go, for machines that do not
// exist: what the real agent says to Ironic and answers to it, without touching
// hardware.
//
// [Run] is one life of the agent: it posts the inventory where Ironic waits for
// it, looks its node up, takes the agent token, makes a certificate of its own,
// serves the command API over TLS and heartbeats, until its context ends. What
// is behind a command is not here: hardware managers ([Manager]) list and run
// the steps, [Power] switches the machine. The behaviour is that of
// ironic-python-agent 13.0.0, down to its error objects; the contract cases of
// test/machine/realipa hold both against a real Ironic.
package ipa
