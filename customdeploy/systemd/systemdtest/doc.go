// Package systemdtest gives tests a real systemd and one contract for whatever
// claims to behave like it.
//
// [Boot] starts systemd as process 1 of its own namespaces from a Debian root
// file system (made once with mmdebstrap and cached); it needs root on Linux
// with cgroup v2. [Contract] runs one table of cases against a
// systemd.Manager: the D-Bus implementation in front of a booted systemd, and
// the stand-in. The program in folder actor plays the services.
package systemdtest
