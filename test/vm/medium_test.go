//go:build machine

package vm_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/shell"
)

// sum reads the whole drive without the guest's memory of it.
const sum = "echo 3 >/proc/sys/vm/drop_caches; sha256sum /dev/sr0"

// TestReadErrorOfSATA gives an error of the image server to the guest, which
// reads again when the server is back.
func TestReadErrorOfSATA(t *testing.T) {
	w := awake(t, emulator.BootModeLegacy, nil)
	whole := digest(t, w.images.path)
	begun := time.Now()
	w.images.broken.Store(true)
	w.Expect(w.run(sum)).NotTo(ContainSubstring(whole))
	w.event(vm.EventMediumError, begun)
	w.images.broken.Store(false)
	w.Expect(w.run(sum)).To(ContainSubstring(whole))
}

// TestMediumFaults breaks the medium in all ways while the guest reads it, and
// restarts the guest in between.
func TestMediumFaults(t *testing.T) {
	w := awake(t, emulator.BootModeUEFI, func(_ *world, c *vm.Config) { c.Drive, c.MediumPatience = vm.DriveUSB, 15*time.Second })
	g := w.WithT
	whole := digest(t, w.images.path)
	// A drive on USB is found a little later.
	w.run("until [ -b /dev/sr0 ]; do sleep 1; done")
	g.Expect(w.run(sum)).To(HavePrefix(whole))
	bytes, requests, err := w.machine.MediumReads(t.Context())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(bytes).To(BeNumerically(">", 18<<20))
	g.Expect(requests).To(BeNumerically(">", 10))

	// The image server restarts: the guest waits, and reads what is right.
	begun := time.Now()
	w.images.broken.Store(true)
	g.Expect(w.machine.Type(t.Context(), sum+"\n")).To(Succeed())
	w.event(vm.EventMediumError, begun)
	w.images.broken.Store(false)
	w.console(whole)

	// It does not come back: the BMC gives up, and the guest lives on without the medium.
	begun = time.Now()
	w.images.broken.Store(true)
	g.Expect(w.machine.Type(t.Context(), sum+"\n")).To(Succeed())
	w.event(vm.EventEjected, begun)
	g.Expect(w.run("cat /sys/block/sr0/size")).NotTo(BeEmpty())
	g.Expect(w.run(sum)).NotTo(ContainSubstring(whole))
	w.images.broken.Store(false)

	// Ejected and inserted again by Redfish, in the running machine.
	w.eject()
	begun = time.Now()
	w.insert(w.images.medium())
	w.event(vm.EventInserted, begun)
	g.Expect(w.run("sleep 3; " + sum)).To(HavePrefix(whole))

	// The BMC loses the medium while the machine boots from it, and finds it at the next start.
	begun = time.Now()
	w.reset(emulator.ResetForceRestart)
	g.Expect(w.event(vm.EventStart, begun).Detail).To(Equal("UEFI, tries [medium disk]"))
	g.Eventually(func() (int64, error) {
		bytes, _, err := w.machine.MediumReads(t.Context())
		return bytes, err
	}, "10m", "50ms").Should(BeNumerically(">", 1<<20))
	begun = time.Now()
	g.Expect(w.machine.BreakMedium(t.Context())).To(Succeed())
	w.event(vm.EventEjected, begun.Add(-time.Second))
	g.Expect(w.machine.On()).To(BeTrue())
	w.reset(emulator.ResetForceRestart)
	w.console(shell.Ready)

	// A reset by the guest starts what the BMC shows then, without a word to the BMC.
	w.boot(emulator.BootHdd, emulator.BootModeUEFI)
	begun = time.Now()
	g.Expect(w.machine.Type(t.Context(), "reboot -f\n")).To(Succeed())
	w.event(vm.EventReset, begun)
	g.Expect(w.event(vm.EventStart, begun).Detail).To(Equal("UEFI, tries [disk medium]"))
	w.console(shell.Ready)
	g.Expect(w.power()).To(Equal(emulator.PowerOn))

	// An outage, which the BMC sees.
	g.Expect(w.machine.PowerCut(t.Context())).To(Succeed())
	g.Expect(w.power()).To(Equal(emulator.PowerOff))
	g.Expect(w.machine.On()).To(BeFalse())
	g.Expect(w.machine.Type(t.Context(), "x")).To(MatchError(ContainSubstring("is off")))
}

func digest(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}
