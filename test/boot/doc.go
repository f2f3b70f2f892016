// Package boot proves that our live images boot: it makes a bootable live ISO
// out of Debian packages with the CoreOS layout, starts it in QEMU, and reads
// what the guest says on its serial console about what it was given.
//
// [Make] gives the medium and the firmware, [Machine.Boot] one [Report]. The
// tests carry the build tag e2e; QEMU runs without KVM, so a boot takes tens of
// seconds.
package boot
