package model

import (
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// What must hold when a request is made, whatever is on the machine's disk: who is to be asked,
// and what somebody has said not to be done. Nobody is blamed for what the cache did not show.

// seen reports whether something is so of a host, and was so before what the cache may not show yet.
func (w *World) seen(key types.NamespacedName, is func(h *metal3.BareMetalHost) bool) bool {
	before := w.before[key]
	return is(w.host(key)) && (before == nil || is(before))
}

// checkHeld finds a finalizer that is put back on a host that is elsewhere now, which would keep it.
func (r *run) checkHeld(before, after client.Object) {
	h, is := after.(*metal3.BareMetalHost)
	if is && !r.stale && reconcile.Moved(h) && len(h.Finalizers) > len(before.GetFinalizers()) {
		r.world.breaks("HELD THOUGH MOVED: the controller puts a finalizer on host %s, which is elsewhere now", h.Name)
	}
}

// checkOwner holds a request that touches a machine against whose it is: one that was installed for a host
// is nobody else's, be that one detached, or at the same BMC by mistake.
func (w *World) checkOwner(asks types.NamespacedName, n *node, what string) {
	tenant, known := w.tenants[n.address]
	if !known || tenant == asks || !slices.Contains(w.ownersOf(n.address), tenant) || !w.machines[n.address].installed() || w.mayGo(n.address) {
		return
	}
	w.breaks("TOUCHED BY ANOTHER: host %s asks Ironic to %q the machine of node %s, which was installed for host %s", asks.Name, what, n.Name, tenant.Name)
}

// checkKeptOff finds a machine that is switched on though its host says that it is to be off, or a client
// keeps it off.
func (w *World) checkKeptOff(n *node, how string) {
	if m := w.machines[n.address]; !m.installed() || m.On {
		return
	}
	for _, key := range w.tenantsOf(n.address) {
		if h := w.host(key); h.DeletionTimestamp == nil && !h.Spec.DisablePowerOff && w.seen(key, keptOff) {
			w.breaks("SWITCHED ON UNASKED: Ironic %s the machine of node %s, which host %s is to keep off: online %t, annotations %s", how, n.Name, key.Name,
				h.Spec.Online, strings.Join(sortedKeys(h.Annotations), ", "))
		}
	}
}

// checkServiced finds servicing, which boots a machine, for a host whose machine is to be off, be it on by now.
func (w *World) checkServiced(n *node) {
	for _, key := range w.tenantsOf(n.address) {
		if h := w.host(key); h.DeletionTimestamp == nil && !h.Spec.DisablePowerOff && w.seen(key, keptOff) {
			w.breaks("SERVICED THOUGH OFF: Ironic services the machine of node %s, which host %s is to keep off: online %t, annotations %s", n.Name, key.Name,
				h.Spec.Online, strings.Join(sortedKeys(h.Annotations), ", "))
		}
	}
}

// checkOnline finds a deployment of a machine that is to be off by now.
func (w *World) checkOnline(n *node, key types.NamespacedName) {
	if w.seen(key, func(h *metal3.BareMetalHost) bool { return !h.Spec.Online }) {
		w.breaks("DEPLOYED THOUGH OFF: node %s is deployed, and its host %s is to be off", n.Name, key.Name)
	}
}

// checkCleaning finds a machine that is about to be cleaned though its host says that it is not to be. An
// Ironic that cannot end a deployment by itself cleans after one that is under way.
func (w *World) checkCleaning(n *node) {
	if clean := n.AutomatedClean; clean != nil && !*clean || n.unabortable {
		return
	}
	for _, key := range w.ownersOf(n.address) {
		disabled := func(h *metal3.BareMetalHost) bool { return h.Spec.AutomatedCleaningMode == metal3.CleaningModeDisabled }
		if w.host(key).Status.Provisioning.ID == n.UUID && w.seen(key, disabled) {
			w.breaks("CLEANED THOUGH DISABLED: Ironic is to clean the machine of node %s, and host %s says that it is not to be", n.Name, key.Name)
		}
	}
}

// switchesOn reports whether a change of power ends with a machine that is on.
func switchesOn(target ironic.PowerState) bool {
	return target != ironic.PowerOff && target != ironic.PowerSoftOff
}
