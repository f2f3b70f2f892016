// Package qmp is a client of QEMU's machine protocol: commands with their
// answers, and events, as lines of JSON over a Unix socket (docs/interop/qmp-spec
// in QEMU's sources). QEMU connects to the client's socket, so that nobody waits
// for one to appear. The main type is [Client].
package qmp
