// Package systemdtest gives tests a real systemd.
//
// [Boot] starts systemd as process 1 of its own namespaces (package booted); it needs
// root on Linux with cgroup v2. The program in folder actor plays the services. [BootNode] starts one that
// runs containers, as a node of a Kubernetes, with the real Ignition applied before.
package systemdtest
