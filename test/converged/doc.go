// Package converged takes a cluster of three hosts from the addresses of their BMCs to its
// end, with the programs as they are shipped: `ironflow run` in front of a real Ironic and a
// real kube-apiserver, ironflow-step and ironflow-agent on the machines, and
// `ironflow-cluster` in front of a second kube-apiserver, which is that of the installed
// cluster. The BMCs are sushy-tools' emulator; simulated are the machines with their IPA and
// systemd (package test/machine), and the agents write no disk. Ignition comes from a
// stand-in of openshift-install; which release it is, is read from an image in Debian's
// docker-registry, through a mirror and with a pull secret. The tests write what a user writes, and make what only
// kubelets and OpenShift itself make: requests, nodes, operators. Every stage of a host and
// the end of the cluster are reported by our own programs.
package converged
