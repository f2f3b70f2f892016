package contract_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/test/bmc/contract"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/emulator"
	"github.com/ironflow/ironflow/test/lab/labtest"
)

// TestEmulator runs the cases that sushy-tools' emulator passes too: where the two
// differ, the simulator is wrong.
func TestEmulator(t *testing.T) {
	l := labtest.New(t)
	e, err := l.StartEmulator(t.Context(), lab.EmulatorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var systems atomic.Int64
	contract.Run(t, contract.Target{
		URL: e.URL, User: e.User, Password: e.Password, HTTP: e.HTTP, Patience: 30 * time.Second, Look: 50 * time.Millisecond,
		NewSystem: func(t testing.TB) string {
			id := uuid.NewString()
			mac := fmt.Sprintf("52:54:00:e0:00:%02x", systems.Add(1))
			if err := e.Add(t.Context(), emulator.System{UUID: id, Name: id, NICs: []emulator.NIC{{MAC: mac}}}); err != nil {
				t.Fatal(err)
			}
			return id
		},
	}, contract.Cases)
}
