// Package kubernetes has a plain Kubernetes come up on booted systemds: the hub and the host
// agents are the shipped programs, and each host's installed system is a Debian root file
// system to which the real Ignition applies exactly what the hub hands out for the host. Real
// kubeadm, kubelet, containerd, CNI plugins and control plane, built from their modules, make
// it a node, on this computer's kernel; ironflow-cluster runs in a pod of the cluster, approves
// what the kubelets ask for, and tells the hub the end.
//
// What is left out is the disk: agents are in dry run, and nobody's firmware boots. Nobody
// plays a kubelet, a node or a stage. The tests need root, and a kernel with what a node needs:
// see package systemdtest.
package kubernetes
