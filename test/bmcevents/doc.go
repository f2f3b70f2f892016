// Package bmcevents holds the test in which BMCs push their events to the shipped
// program: `ironflow controllers --bmc --bmc-events-addr=...` in front of a real Ironic,
// on a real kube-apiserver, with a simulated BMC. A machine that goes off behind Ironic's
// back is started again when its BMC tells, instead of when Ironic looks.
package bmcevents
