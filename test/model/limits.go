package model

import (
	"slices"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/capacity"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// limits let one host work at a time, where a world has limits at all.
var limits = capacity.Limits{Total: 1}

// starts are the requests by which a machine begins to work that did not.
var starts = []ironic.Target{ironic.TargetInspect, ironic.TargetClean, ironic.TargetProvide, ironic.TargetActive, ironic.TargetDeleted}

// light are states of a node that is busy and whose machine is not.
var light = []ironic.ProvisionState{ironic.StateVerifying, ironic.StateAdopting}

// wake has a host looked at.
func (w *World) wake(key types.NamespacedName) { w.woken[key] = true }

// resume gives hosts their slots and places in line after a start.
func (r *run) resume(w *World) {
	if !w.limited || w.resumed {
		return
	}
	w.resumed = true
	var hosts []metal3.BareMetalHost
	for _, key := range w.hosts() {
		hosts = append(hosts, *w.host(key))
	}
	r.limiting.Stand(w.line, w.wake)
	r.limiting.Resume(hosts)
	w.line = r.limiting.Line()
}

// checkLimit is when Ironic takes a request for a node by which its machine begins to work.
func (w *World) checkLimit(id string, target ironic.Target) {
	if !w.limited || w.doubt.Undeployed || !slices.Contains(starts, target) || w.nodes[id].ProvisionState.Busy() {
		return
	}
	for _, key := range w.hosts() {
		h := w.host(key)
		n := w.nodeOf(h)
		works := n != nil && n.ProvisionState.Busy() && !slices.Contains(light, n.ProvisionState)
		if !works || n.UUID == id {
			continue
		}
		w.breaks("TOO MANY AT WORK: Ironic is asked for %q of node %s while node %s is %s, and the limit is %d", target, w.nodes[id].Name, n.Name, n.ProvisionState, limits.Total)
	}
}

// nodeOf is the node of a host, by its name where the status names none; nil for none.
func (w *World) nodeOf(h *metal3.BareMetalHost) *node {
	if n := w.nodes[h.Status.Provisioning.ID]; n != nil {
		return n
	}
	for _, id := range sortedKeys(w.nodes) {
		if n := w.nodes[id]; n.Name == nodespec.NodeName(h) {
			return n
		}
	}
	return nil
}

// checkLine finds a host that waits in line although nobody works, and one that keeps a slot of which it makes
// nothing. Whoever is kept off keeps its place for as long as its machine works.
func (w *World) checkLine() {
	if !w.limited || !w.resumed {
		return
	}
	atWork := w.line.AtWork()
	if waiting := w.line.Waiting(); len(waiting) > 0 && len(atWork) == 0 {
		w.breaks("IN LINE FOR NOTHING: host %s waits for a slot, and no host is at work", waiting[0].Name)
	}
	for _, key := range atWork {
		h := w.host(key)
		if h == nil {
			w.breaks("A SLOT IS LOST: host %s is gone and holds one", key.Name)
			continue
		}
		if n := w.nodes[h.Status.Provisioning.ID]; reconcile.KeptOff(h) == "" && (n == nil || !n.works()) {
			w.breaks("A SLOT IS LOST: host %s holds one, and its node is %s", key.Name, stateOf(n))
		}
	}
}
