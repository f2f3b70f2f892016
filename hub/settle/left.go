package settle

import (
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
)

// ForgetHost removes a host from the unit and the store, with its Ignition.
func (w *Work) ForgetHost(h *store.Host) {
	if id := h.WasIn(); id != "" {
		w.PutFile(vault.HostGone(id, h.Key()))
	}
	w.Work.ForgetHost(h)
}

// dropLeft removes the Ignition of hosts that are in the cluster no more which it was made
// for: it holds what opens that cluster.
func (w *Work) dropLeft() {
	for _, h := range w.DirtyHosts() {
		if before := h.WasIn(); before != "" && before != h.ClusterID() {
			w.PutFile(vault.HostGone(before, h.Key()))
		}
	}
}
