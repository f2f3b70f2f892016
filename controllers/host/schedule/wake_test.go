package schedule

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/ironic"
)

// TestWhoIsUrgent tells of nodes while all places to start are taken: the hosts pass
// for which Ironic has done its part, or cannot go on.
func TestWhoIsUrgent(t *testing.T) {
	for name, c := range map[string]struct {
		kind   ironic.ChangeKind
		row    ironic.Row
		urgent bool
	}{
		"cleans":         {kind: ironic.Changed, row: ironic.Row{ProvisionState: ironic.StateCleaning}},
		"changes power":  {kind: ironic.Changed, row: ironic.Row{ProvisionState: ironic.StateAvailable, TargetPowerState: ironic.PowerOn}},
		"is locked":      {kind: ironic.Appeared, row: ironic.Row{ProvisionState: ironic.StateActive, Reservation: "conductor"}},
		"is cleaned":     {kind: ironic.Changed, row: ironic.Row{ProvisionState: ironic.StateAvailable}, urgent: true},
		"is faulty":      {kind: ironic.Changed, row: ironic.Row{ProvisionState: ironic.StateCleanWait, Maintenance: true, Fault: "clean failure"}, urgent: true},
		"fell silent":    {kind: ironic.LostAgent, row: ironic.Row{ProvisionState: ironic.StateDeployWait}, urgent: true},
		"is gone":        {kind: ironic.Vanished, row: ironic.Row{ProvisionState: ironic.StateDeploying}, urgent: true},
		"is there again": {kind: ironic.Appeared, row: ironic.Row{ProvisionState: ironic.StateManageable}, urgent: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			q := priorityqueue.New[kreconcile.Request]("urgent")
			defer q.ShutDown()
			memories := &memory.Memories{}
			s := New(Options{Memories: memories})
			s.starts.open(func(types.NamespacedName) {})
			for n := range startPlaces {
				_, now := s.Start(t.Context(), types.NamespacedName{Namespace: "lab", Name: fmt.Sprint("other-", n)})
				g.Expect(now).To(BeTrue())
			}
			c.row.Name, c.row.UUID = "lab~a", "node-a"
			s.nodeChanged(q, ironic.Change{Kind: c.kind, Row: c.row})
			next, _ := q.Get()
			key := types.NamespacedName{Namespace: "lab", Name: "a"}
			g.Expect(next.NamespacedName).To(Equal(key))
			_, now := s.Start(t.Context(), key)
			g.Expect(now).To(Equal(c.urgent))
			g.Expect(memories.Get(key).LostAgent.Node == "node-a").To(Equal(c.kind == ironic.LostAgent))
		})
	}
}

// TestNodesOfOthers wakes nobody for a node that is not named after a host.
func TestNodesOfOthers(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"", "somebody", "~a", "lab~"} {
		_, ours := hostOfNode(ironic.Change{Row: ironic.Row{Name: name}})
		g.Expect(ours).To(BeFalse(), name)
	}
}
