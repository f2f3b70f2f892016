package schedule

import (
	"fmt"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/resources"
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
			s := New(Options{Memories: memories, Hosts: hosts(t)})
			s.starts.open(func(types.NamespacedName) {})
			for n := range startPlaces {
				_, now := s.Start(t.Context(), types.NamespacedName{Namespace: "lab", Name: fmt.Sprint("other-", n)})
				g.Expect(now).To(BeTrue())
			}
			c.row.Name, c.row.UUID = "lab~a", "node-a"
			s.nodeChanged(t.Context(), q, ironic.Change{Kind: c.kind, UUID: c.row.UUID, Row: c.row})
			next, _ := q.Get()
			key := types.NamespacedName{Namespace: "lab", Name: "a"}
			g.Expect(next.NamespacedName).To(Equal(key))
			_, now := s.Start(t.Context(), key)
			g.Expect(now).To(Equal(c.urgent))
			g.Expect(memories.Get(key).LostAgent.Node == "node-a").To(Equal(c.kind == ironic.LostAgent))
		})
	}
}

// hosts is a cache of hosts that is indexed as the controller's.
func hosts(t *testing.T, list ...client.Object) client.Reader {
	scheme := runtime.NewScheme()
	NewWithT(t).Expect(metal3.AddToScheme(scheme)).To(Succeed())
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(list...).WithIndex(&metal3.BareMetalHost{}, nodeIndex, indexNode).
		WithIndex(&metal3.BareMetalHost{}, resources.MachineIndex, resources.IndexMachines).Build()
}

// TestHostsOfANode finds hosts by the id that they have stored, whatever the node's name
// is, and by its name, because a new host has not stored the id yet.
func TestHostsOfANode(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "a"}}
	h.Status.Provisioning.ID = "node-a"
	s := New(Options{Memories: &memory.Memories{}, Hosts: hosts(t, h)})
	a, b := types.NamespacedName{Namespace: "lab", Name: "a"}, types.NamespacedName{Namespace: "lab", Name: "b"}
	for name, want := range map[string][]types.NamespacedName{"lab~a": {a}, "": {a}, "rack7-u12": {a}, "lab~b": {b, a}} {
		g.Expect(s.hostsOfNode(t.Context(), ironic.Change{UUID: "node-a", Row: ironic.Row{UUID: "node-a", Name: name}})).To(Equal(want), name)
	}
	g.Expect(s.hostsOfNode(t.Context(), ironic.Change{UUID: "node-b", Row: ironic.Row{UUID: "node-b", Name: "lab~b"}})).To(ConsistOf(b))
}

// TestNodesOfOthers wakes nobody for a node that is not named after a host.
func TestNodesOfOthers(t *testing.T) {
	g := NewWithT(t)
	for _, name := range []string{"", "somebody", "~a", "lab~"} {
		_, ours := hostOfNode(ironic.Change{Row: ironic.Row{Name: name}})
		g.Expect(ours).To(BeFalse(), name)
	}
}
