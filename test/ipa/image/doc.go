// Package image builds the image of ironic-python-agent as `make images` does, and runs it as the live system's container engine does: in a root of its own,
// with the host's / on /mnt/coreos and the bus of the host's systemd, which is a real one. No device of this computer is in there. What a machine has to
// show, such as an inspection, is in test/vm.
package image
