// Package preflight holds the tests in which the shipped program checks what hosts
// ask of their hardware: `ironflow controllers --bmc` in front of a real Ironic, on a
// real kube-apiserver, with simulated BMCs. A wish that cannot work is refused before
// Ironic hears of it, and after the correction its host goes on by itself.
package preflight
