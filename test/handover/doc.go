// Package handover holds a fleet as baremetal-operator leaves it when it is
// stopped: one file in testdata per situation, with the stored objects of a host
// (status, finalizers, annotations and owners as that operator writes them) and
// the host's node in Ironic. Every provisioning state has a file of its name.
//
// [Load] puts the fleet into a Kubernetes API and a simulated Ironic. Tests then
// start Ironflow, or the check before a hand-over, and see what would be touched.
package handover
