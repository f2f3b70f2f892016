// Package flows takes a whole virtual machine (package test/vm) from its BMC's
// address to an installed host and back, with everything real around it: a
// kube-apiserver, Ironic with Metal3's settings, Redfish, Ironflow as shipped, and
// in the machine firmware, our live image, Ignition, systemd, podman, IPA, the agent
// and coreos-installer.
//
// [Start] brings up the [World]; [World.NewHost] makes a machine with its
// BareMetalHost. A [Timeline] records what a user sees of a host and what its
// machine does, and gives the [Report] with the times of every phase. The tests
// carry the build tag machine (`make test-machine`, root).
package flows
