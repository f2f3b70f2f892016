// Package vm is a machine that is as real as software can be: QEMU without
// hardware virtualization, with UEFI or BIOS, disks of several kinds, network
// cards, a TPM, a screen and a serial console.
//
// [Machine] stands behind the lab's emulated BMC: it implements bmc.Taker, does
// what the emulator tells it (power, boot device and mode, secure boot, virtual
// media, HTTP boot), and tells the BMC when it goes off by itself. The machine
// itself knows nothing of Redfish. A virtual medium is read by QEMU's own HTTP
// client, in ranges of its own choice, as a BMC reads it.
//
// Every start is a new QEMU process, also after a reset by the guest: firmware,
// secure boot and boot order are those that the BMC shows at that moment, as
// with hardware. Disks, NVRAM and the TPM's state are files that stay.
//
// The faults that hardware has can be ordered: [Machine.PowerCut], [Machine.FailDisk],
// [Machine.SetLink], [Machine.BreakMedium], [Machine.SetOrder].
package vm
