package host

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
)

// TestAbortedServicingIsNotDone: Ironic takes a node whose servicing was aborted
// straight back to active, where only its last error tells.
func TestAbortedServicingIsNotDone(t *testing.T) {
	for name, c := range map[string]struct {
		word string
		done bool
	}{
		"aborted":            {"By request, the service operation was aborted", false},
		"done":               {"", true},
		"done, power failed": {"Failed to change power state to 'power on'", true},
	} {
		t.Run(name, func(t *testing.T) {
			past := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			node := &ironic.Node{ProvisionState: ironic.StateActive, ProvisionUpdatedAt: past.Add(time.Minute), LastError: c.word}
			NewWithT(t).Expect((&order{Service: true, Since: past}).done(node)).To(Equal(c.done))
		})
	}
}
