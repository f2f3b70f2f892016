// Package bootstrap has the agent's bootstrap role at work on a booted systemd: bootstrap.ign
// comes from a hub whose Ignition source runs a stand-in of openshift-install, and its
// services start a real etcd and a real kube-apiserver out of memory, which two others join
// before the host writes its own disk, with the real coreos-installer, and leaves.
//
// The agents are the shipped programs, all three of one cluster: that of the bootstrap host
// writes a loop device in the machine, the others are in dry run. What OpenShift itself makes is
// made here: what the services do (testdata), and the installed systems of the other two,
// each a booted systemd with etcd and kube-apiserver as units, and their nodes. Every stage
// that the hub hears of comes from an agent.
//
// The tests need root: see package systemdtest.
package bootstrap
