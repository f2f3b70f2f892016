// Package install holds tests of the deploy step install_coreos on whole machines
// with storage and networks that no kernel of a test computer has: a disk of several
// paths, a software RAID that is to be kept, a root on iSCSI, a published network.
//
// Real are the firmware, Debian's kernel, the live system with the Ignition that we
// render and its units (multipathd, iscsistart, NetworkManager), the step's program as
// shipped, the real coreos-installer, and the system that the machine starts from
// afterwards. Ironic and ironic-python-agent are played: a script in the place of the
// agent, started by its shipped unit, gives the program the same JSON as our plugin
// does, with the disk that the real agent would name. The flows of test/vm/flows have
// both for real, on plain disks.
//
// The tests carry the build tag machine (`make test-machine`, root).
package install
