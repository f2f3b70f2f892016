//go:build machine

package vm_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
)

// TestNetworkBoot is iPXE from the card's ROM, with the script that DHCP offers.
func TestNetworkBoot(t *testing.T) {
	for _, mode := range []emulator.BootMode{emulator.BootModeLegacy, emulator.BootModeUEFI} {
		t.Run(string(mode), func(t *testing.T) {
			w := open(t, func(w *world, c *vm.Config) { c.NICs[0].User = "bootfile=" + w.fromGuest("/boot.ipxe") })
			w.boot(emulator.BootPxe, mode)
			w.reset(emulator.ResetOn)
			w.Eventually(w.images.scripted.Load, "10m", "100ms").Should(BeNumerically(">", 0))
			w.Expect(w.images.agents.Load()).To(ContainSubstring("iPXE"))
		})
	}
}
