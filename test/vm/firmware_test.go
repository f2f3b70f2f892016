//go:build machine

package vm_test

import (
	"net/url"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/shell"
)

// TestSecureBoot shows that the BMC's flag is the firmware's: with it a medium
// that nobody has signed does not start, without it does.
func TestSecureBoot(t *testing.T) {
	w := open(t, nil)
	w.redfish("PATCH", "/SecureBoot", map[string]any{"SecureBootEnable": true}, nil)
	w.insert(w.images.medium())
	w.boot(emulator.BootCd, emulator.BootModeUEFI)
	begun := time.Now()
	w.reset(emulator.ResetOn)
	w.Expect(w.event(vm.EventStart, begun).Detail).To(ContainSubstring("secure boot"))
	w.console("Access Denied")
	w.redfish("PATCH", "/SecureBoot", map[string]any{"SecureBootEnable": false}, nil)
	w.reset(emulator.ResetForceRestart)
	w.console("REPORT begin")
}

// fromGuest is the address of the image server as a guest of QEMU's own network
// reaches it.
func (w *world) fromGuest(path string) string {
	address, err := url.Parse(w.images.URL)
	w.Expect(err).NotTo(HaveOccurred())
	return "http://10.0.2.2:" + address.Port() + path
}

// TestHTTPBoot is UEFI HTTP boot of a whole medium, which the firmware reads.
func TestHTTPBoot(t *testing.T) {
	w := open(t, func(_ *world, c *vm.Config) { c.MemoryMiB = 1536 })
	iso, err := shell.Make(t.Context())
	w.Expect(err).NotTo(HaveOccurred())
	w.images.path = iso
	w.redfish("PATCH", "", map[string]any{"Boot": map[string]any{
		"BootSourceOverrideTarget": "UefiHttp", "BootSourceOverrideMode": "UEFI", "HttpBootUri": w.fromGuest("/shell.iso"),
	}}, nil)
	w.reset(emulator.ResetOn)
	w.console(shell.Ready)
	w.Expect(w.images.agents.Load()).To(ContainSubstring("UefiHttpBoot"))
}
