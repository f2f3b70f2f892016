//go:build machine

package vm_test

import (
	"image/png"
	"os"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
)

// TestBootsVirtualMedium is a boot as Ironic orders it, and what the guest sees
// of its machine.
func TestBootsVirtualMedium(t *testing.T) {
	for _, firmware := range []emulator.BootMode{emulator.BootModeUEFI, emulator.BootModeLegacy} {
		t.Run(string(firmware), func(t *testing.T) {
			w := open(t, nil)
			w.insert(w.images.medium())
			w.boot(emulator.BootCd, firmware)
			w.reset(emulator.ResetForceOn)
			w.Expect(w.power()).To(Equal(emulator.PowerOn))
			w.console("REPORT begin")

			shot := filepath.Join(t.TempDir(), "screen.png")
			w.Expect(w.machine.Screenshot(t.Context(), shot)).To(Succeed())
			file, err := os.Open(shot)
			w.Expect(err).NotTo(HaveOccurred())
			defer file.Close()
			screen, err := png.Decode(file)
			w.Expect(err).NotTo(HaveOccurred())
			w.Expect(screen.Bounds().Dx()).To(BeNumerically(">=", 640))

			// The guest reports and switches itself off, which the BMC shows.
			w.event(vm.EventOff, time.Time{})
			w.Eventually(w.power, "1m", "100ms").Should(Equal(emulator.PowerOff))
			w.Expect(w.images.ranges.Load()).To(BeNumerically(">", 10))
		})
	}
}
