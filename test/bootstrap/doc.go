// Package bootstrap has the agent's bootstrap role at work on a booted systemd: bootstrap.ign
// comes from a hub whose Ignition source runs a stand-in of openshift-install, and its
// services start a real etcd and a real kube-apiserver out of memory, which two others join
// before the host writes its own disk, with the real coreos-installer, and leaves. Then its
// own installed system joins them, and the cluster comes to be installed.
//
// Hub, agents and the program inside the cluster are the shipped programs: the agent of the
// bootstrap host writes a loop device in the machine, those of the others are in dry run. What
// OpenShift itself makes is made here: what the bootstrap services do (testdata), its kinds and
// operators, the kubelets with their signing requests and nodes (package incluster), and the
// installed systems of all three, each a booted systemd with etcd and kube-apiserver as units.
// Every stage, every node and the end are reported by the agents and by ironflow-cluster, which
// runs beside the cluster, as its Deployment there says.
//
// The tests need root: see package systemdtest.
package bootstrap
