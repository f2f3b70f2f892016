// Package rotation holds the tests in which the shipped program changes passwords and
// certificates of BMCs while a fleet registers: `ironflow controllers --bmc` in front
// of a real Ironic, on a real kube-apiserver, with a simulated BMC for each host. In
// the end every stored password opens its BMC, and Ironic's node has it.
package rotation
