//go:build machine

package vm_test

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/vm"
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
