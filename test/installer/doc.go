// Package installer holds the tests in which the agent truly writes a disk: the
// real hub, agent, deploy step, systemd and coreos-installer, with a loop device
// as the disk. Nothing is a dry run; pretended are udev and the disk's entry in
// sysfs (package livesystem). They need root.
package installer
