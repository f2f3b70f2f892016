package execute

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
)

// TestAnActionFromNoNodeIsNotCarriedOut: one that was not made from a node that was read
// has no node to act on, and Ironic is not asked.
func TestAnActionFromNoNodeIsNotCarriedOut(t *testing.T) {
	for _, a := range []policy.Action{
		nodeaction.Transition{},
		nodeaction.Power{},
		nodeaction.Maintenance{},
		nodeaction.SetRAID{},
		nodeaction.Validate{},
		nodeaction.Remove{},
		nodeaction.Update{},
		nodeaction.EnsurePorts{},
		nodeaction.LookAtPower{},
		nodeaction.FindOwner{},
		nodeaction.ReadInventory{},
		nodeaction.ReadFailure{},
		nodeaction.MakeFirmware{},
		nodeaction.ReadSettings{},
		nodeaction.ReadComponents{},
	} {
		w := &Work{}
		NewWithT(t).Expect(w.onIronic(t.Context(), a)).To(MatchError(ContainSubstring("was made from no node")), a.Name())
	}
}
