//go:build e2e

package contract_test

import (
	"testing"

	"github.com/ironflow/ironflow/test/bmc/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/labtest"
	"github.com/ironflow/ironflow/test/machine/ironictest"
)

// TestIronic runs what the real Ironic does with BMCs, on the simulator, and on
// sushy-tools' emulator where it can do it too.
func TestIronic(t *testing.T) {
	h := ironictest.Start(t, labtest.New(t), ironictest.HallOptions{Redfish: &lab.RedfishOptions{}})
	t.Run("cases", func(t *testing.T) { contract.RunIronic(t, h, contract.IronicCases) })
}
