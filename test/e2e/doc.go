// Package e2e installs Ironflow as docs/install.md says and works with it: the images are those of `make images`, the chart is installed by helm
// on the lab's kube-apiserver, and the pod of its Deployment runs as a process whose root folder is that of the image, as its specification
// says: user, read-only root, volumes, environment, token of its service account, probes. `ironflow check` is asked in that pod, in order and for planted
// faults, and hosts of config/samples go from their first apply to an installed machine and back.
//
// There is no kubelet: pod_test.go does what one does, but for the limits of a cgroup, seccomp and a network of the pod's own. All of it is in
// a network namespace with addresses of documentation, so that nothing here meets what else runs on the computer. Ironic and kube-apiserver
// are real, BMCs and machines are simulated (docs/machines.md).
package e2e
