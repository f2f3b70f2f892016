//go:build machine

package vm_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/shell"
)

// awake boots the system with a shell from virtual media.
func awake(t *testing.T, mode emulator.BootMode, change func(*world, *vm.Config)) *world {
	t.Helper()
	w := open(t, change)
	iso, err := shell.Make(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.images.path = iso
	w.insert(w.images.medium())
	w.boot(emulator.BootCd, mode)
	w.reset(emulator.ResetOn)
	w.console(shell.Ready)
	return w
}

// run runs a command in the guest and returns its output, without the last newline.
func (w *world) run(command string) string {
	w.t.Helper()
	w.commands++
	end := fmt.Sprintf("end-of-%d", w.commands)
	begun := w.read
	// The marker is not in what is typed, which a terminal may echo.
	w.Expect(w.machine.Type(w.t.Context(), fmt.Sprintf("%s; echo end-of-$((%d))\n", command, w.commands))).To(Succeed())
	w.console(end)
	text, err := w.machine.Console(begun)
	w.Expect(err).NotTo(HaveOccurred())
	text, _, _ = strings.Cut(text, end)
	text = strings.TrimSpace(strings.ReplaceAll(text, "\r", ""))
	w.t.Logf("%s\n%s", command, text)
	return text
}

// TestWhatTheGuestSees compares the machine with what was ordered, and lets its
// disk and its network fail.
func TestWhatTheGuestSees(t *testing.T) {
	w := awake(t, emulator.BootModeUEFI, func(_ *world, c *vm.Config) {
		c.TPM = true
		c.Drive = vm.DriveUSB
		c.Disks = []vm.Disk{
			{Kind: vm.DiskVirtio, SizeMiB: 64, Serial: "virtio-1"},
			{Kind: vm.DiskNVMe, SizeMiB: 96, Serial: "nvme-1"},
			{Kind: vm.DiskSCSI, SizeMiB: 128, Serial: "scsi-1", WWN: "0x5000c50015ac3bd9"},
			{Kind: vm.DiskSATA, SizeMiB: 160, Serial: "sata-1", WWN: "0x5000c50015ac3bda", Rotational: true},
		}
		c.NICs = append(c.NICs, vm.NIC{MAC: "52:54:00:00:00:f2"})
	})
	g := w.WithT
	g.Expect(w.run("cat /sys/class/dmi/id/product_uuid /sys/class/dmi/id/product_serial")).To(Equal(w.uuid + "\nvm-0"))
	g.Expect(w.run("nproc; ls -d /sys/firmware/efi /sys/class/tpm/tpm0; ls /sys/class/tpm/tpm0/pcr-sha256 | wc -l")).To(
		Equal("2\n/sys/class/tpm/tpm0  /sys/firmware/efi\n24"))
	g.Expect(w.run("cat /sys/class/net/eth*/address")).To(Equal("52:54:00:00:00:f1\n52:54:00:00:00:f2"))

	g.Expect(w.run("cat /sys/block/vda/size /sys/block/vda/serial")).To(Equal("131072\nvirtio-1"))
	g.Expect(w.run("cat /sys/block/nvme0n1/size /sys/class/nvme/nvme0/serial")).To(MatchRegexp(`^196608\nnvme-1 *$`))
	g.Expect(w.run("cat /sys/block/nvme0n1/wwid")).To(HavePrefix("nvme.1b36-6e766d652d31-"), "Linux makes it of the serial number")
	g.Expect(w.run("cd /sys/block; for d in sd?; do echo $(cat $d/size $d/device/wwid $d/queue/rotational); done; cd /")).To(
		And(ContainSubstring("262144 naa.5000c50015ac3bd9 0"), ContainSubstring("327680 naa.5000c50015ac3bda 1")))

	const write = "dd if=/dev/zero of=/dev/vda bs=4k count=1 seek=%d oflag=direct conv=notrunc 2>&1"
	g.Expect(w.run(fmt.Sprintf(write, 1))).To(ContainSubstring("1+0 records out"))
	g.Expect(w.machine.FailDisk(t.Context(), 0, vm.Fault{Writes: true, Sectors: []int64{1600}})).To(Succeed())
	g.Expect(w.run(fmt.Sprintf(write, 2))).To(ContainSubstring("1+0 records out"))
	g.Expect(w.run(fmt.Sprintf(write, 200))).To(ContainSubstring("/output error"))
	g.Expect(w.machine.FailDisk(t.Context(), 0, vm.Fault{Reads: true})).To(Succeed())
	g.Expect(w.run(fmt.Sprintf(write, 200))).To(ContainSubstring("1+0 records out"))
	g.Expect(w.run("dd if=/dev/vda of=/dev/null bs=4k count=1 iflag=direct 2>&1")).To(ContainSubstring("/output error"))
	g.Expect(w.machine.MendDisk(t.Context(), 0)).To(Succeed())
	g.Expect(w.run("dd if=/dev/vda of=/dev/null bs=4k count=1 iflag=direct 2>&1")).To(ContainSubstring("1+0 records out"))
	w.event(vm.EventDiskError, time.Time{})

	const carrier = "cat /sys/class/net/eth0/carrier"
	g.Expect(w.run("ip link set eth0 up; sleep 1; " + carrier)).To(Equal("1"))
	g.Expect(w.machine.SetLink(t.Context(), 0, false)).To(Succeed())
	g.Expect(w.run("sleep 1; " + carrier)).To(Equal("0"))
	g.Expect(w.machine.SetLink(t.Context(), 0, true)).To(Succeed())
	g.Expect(w.run("sleep 1; " + carrier)).To(Equal("1"))

	// A shutdown is the guest's own work: the BMC shows it when it is done.
	before := time.Now()
	w.reset(emulator.ResetGracefulShutdown)
	off := w.event(vm.EventOff, before)
	g.Expect(off.Detail).To(Equal("switched off by the guest"))
	g.Eventually(w.power, "1m", "100ms").Should(Equal(emulator.PowerOff))
}
