package host

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"

	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestHostsAtWorkComeBeforeFarewells deletes a host: the pass that removes its node
// ends there, and lets the host go in a pass of its own, behind hosts whose machines
// wait, without asking Ironic again what it knows.
func TestHostsAtWorkComeBeforeFarewells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.sim.ResetCounts()
		ended := w.onPass(func(r ctrl.Result) bool { return r.Priority != nil })
		g.Expect(w.kube.Delete(t.Context(), w.host())).To(Succeed())
		last := <-ended
		g.Expect(*last.Priority).To(And(BeNumerically(">", 0), BeNumerically("<", priorityWaits)))
		g.Expect(last.RequeueAfter).To(BeNumerically(">", 0))
		w.until("gone", time.Second, func(h *metal3.BareMetalHost) bool { return h == nil })
		counts := w.sim.Counts()
		g.Expect(counts).To(HaveKeyWithValue("DELETE /v1/nodes/{node}", 1))
		g.Expect(counts).To(HaveKeyWithValue("GET /v1/nodes/{node}", 2), "at its deletion, and as its power changes; none after its end")
	})
}

// TestOrderOfHosts queues hosts for all reasons and takes them out.
func TestOrderOfHosts(t *testing.T) {
	g := NewWithT(t)
	q := priorityqueue.New[kreconcile.Request]("order")
	defer q.ShutDown()
	r := &Reconciler{memories: newMemories(), entrance: newGate(1), notes: newNotes()}
	request := func(name string) kreconcile.Request {
		return kreconcile.Request{NamespacedName: types.NamespacedName{Namespace: "lab", Name: name}}
	}
	news := func(name string, kind ironic.ChangeKind, row ironic.Row) {
		row.Name = "lab~" + name
		r.nodeChanged(q, ironic.Change{Kind: kind, Row: row})
	}
	q.Add(request("new"))
	news("cleans", ironic.Changed, ironic.Row{ProvisionState: ironic.StateCleaning})
	news("starts", ironic.Changed, ironic.Row{ProvisionState: ironic.StateAvailable, TargetPowerState: ironic.PowerOn})
	news("locked", ironic.Appeared, ironic.Row{ProvisionState: ironic.StateActive, Reservation: "conductor"})
	add(q, request("over").NamespacedName, priorityOver)
	news("cleaned", ironic.Changed, ironic.Row{ProvisionState: ironic.StateAvailable})
	news("faulty", ironic.Changed, ironic.Row{ProvisionState: ironic.StateCleanWait, Maintenance: true, Fault: "clean failure"})
	news("silent", ironic.LostAgent, ironic.Row{ProvisionState: ironic.StateDeployWait})
	news("gone", ironic.Vanished, ironic.Row{ProvisionState: ironic.StateDeploying})
	var order []string
	for range 9 {
		next, _ := q.Get()
		order = append(order, next.Name)
	}
	g.Expect(order).To(Equal([]string{"cleaned", "faulty", "silent", "gone", "over", "new", "cleans", "starts", "locked"}))
}

// TestNobodyIsWokenToHearThatAnInspectionWaits: a host that has something else on its
// mind is, and so is one that is being looked at.
func TestNobodyIsWokenToHearThatAnInspectionWaits(t *testing.T) {
	g := NewWithT(t)
	q := priorityqueue.New[kreconcile.Request]("patience")
	defer q.ShutDown()
	r := &Reconciler{memories: newMemories(), entrance: newGate(1), notes: newNotes()}
	key := func(name string) types.NamespacedName { return types.NamespacedName{Namespace: "lab", Name: name} }
	r.memories.put(key("patient"), memory{NodeID: "patient", Patient: true}, true)
	r.memories.put(key("other-node"), memory{NodeID: "before", Patient: true}, true)
	r.memories.put(key("looked-at"), memory{NodeID: "looked-at", Patient: true}, true)
	r.memories.begin(key("looked-at"))
	r.memories.put(key("deleted"), memory{NodeID: "deleted"}, true)
	for _, name := range []string{"patient", "other-node", "looked-at", "deleted"} {
		row := ironic.Row{UUID: name, Name: "lab~" + name, ProvisionState: ironic.StateInspecting}
		waits := row
		waits.ProvisionState = ironic.StateInspectWait
		r.nodeChanged(q, ironic.Change{Kind: ironic.Changed, UUID: name, Previous: row, Row: waits})
	}
	var woken []string
	for range 3 {
		next, _ := q.Get()
		woken = append(woken, next.Name)
	}
	g.Expect(woken).To(ConsistOf("other-node", "looked-at", "deleted"))
}

// TestAFinalizerThatIsTakenAwayIsPutBack: at once, since the host could vanish with its
// machine in any state.
func TestAFinalizerThatIsTakenAwayIsPutBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, nil)
		defer w.stop()
		w.untilAtRest()
		w.edit(func(h *metal3.BareMetalHost) { h.Finalizers = nil })
		w.until("held again", time.Second, func(h *metal3.BareMetalHost) bool { return slices.Contains(h.Finalizers, names.HostFinalizer) })
	})
}
