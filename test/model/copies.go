package model

import (
	"encoding/json"
	"fmt"
	"maps"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// copies are what is done to a host as a whole: moves to another cluster, and backups.
var copies = []move{
	{
		fault, "moved to another cluster with its status:", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
		func(w *World, about string) { w.transfer(about, true) },
	},
	{
		fault, "moved to another cluster without its status:", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
		func(w *World, about string) { w.transfer(about, false) },
	},
	restored("available", metal3.StateAvailable),
	restored("being deployed", metal3.StateProvisioning),
	restored("provisioned", metal3.StateProvisioned),
	restored("given back", metal3.StateDeprovisioning),
}

// restored is the restore of a host from the backup of a state.
func restored(when string, state metal3.ProvisioningState) move {
	return move{
		fault, "restored from a backup of when it was " + when + ":", "",
		func(w *World, about string) bool { return w.saved[backup{named(about), state}].host != nil },
		func(w *World, about string) { w.restore(about, state) },
	}
}

// restore puts a host back as a backup has it.
func (w *World) restore(about string, state metal3.ProvisioningState) {
	w.later(moment)
	key := named(about)
	copied := w.saved[backup{key, state}]
	old := copied.host.DeepCopy()
	w.forgetUnsaid(w.host(key))
	adopted := w.untold(w.host(key)) && w.nodes[w.host(key).Status.Provisioning.ID] != nil
	w.replace(objectKey{"BareMetalHost", key}, old)
	a := w.asked[key]
	disk := w.machines[systemOf(old)].Disk
	same := copied.installs == w.installs[systemOf(old)]
	// A backup of a deployment tells of that one, whether it was under way then or called off, though it went on since.
	sameWork := (state == metal3.StateProvisioning || state == metal3.StateDeprovisioning) && copied.works == w.works[key]
	a.Free = a.Free && w.workedOn(key)
	a.Destroy = a.Destroy && w.workedOn(key) || (same || adopted) && copied.destroy || sameWork && !same && differs(old, disk)
	// Who puts it back asks for what it asks for, if that is about what is there.
	a.Off = keptOff(old) && (same || wishOf(old) != "" && !differs(old, disk))
	a.Restarts, a.Anew = min(a.Restarts, w.restarting(systemOf(old))), true
	if same {
		a.Restarts += reboots(old)
	}
	for _, id := range sortedKeys(w.nodes) { // what was restarted for a deployment stands on the host
		n := *w.nodes[id]
		n.restarts = 0
		w.nodes[id] = &n
	}
	a.Older = a.Older || !same || disk == partial || w.workedOn(key)
	if _, again := old.Annotations[names.Inspect]; again {
		a.Inspections++
	}
	w.fresh[key] = true
	w.asked[key] = a
	w.doubt.Restored = true
	w.restart()
}

// forgetUnsaid loses what only a host's spec says of its machine.
func (w *World) forgetUnsaid(h *metal3.BareMetalHost) {
	w.set(systemOf(h), func(m *machine) {
		m.Nobodys, m.Unsaid = m.Nobodys || m.Unsaid && h.Status.Provisioning.State != metal3.StateExternallyProvisioned, false
	})
}

// restarting is 1 where Ironic switches a machine off or restarts it.
func (w *World) restarting(address string) int {
	for _, n := range w.nodes {
		if n.address == address && n.TargetPowerState != "" && n.TargetPowerState != ironic.PowerOn {
			return 1
		}
	}
	return 0
}

// countWork takes down that a host begins to be deployed: the next request for that counts.
func (w *World) countWork(before, after client.Object) {
	was, is := before.(*metal3.BareMetalHost)
	h, _ := after.(*metal3.BareMetalHost)
	if is && was.Status.Provisioning.State != h.Status.Provisioning.State && h.Status.Provisioning.State == metal3.StateProvisioning {
		w.fresh[client.ObjectKeyFromObject(h)] = true
	}
}

// transfer makes a host anew, as in another cluster.
func (w *World) transfer(about string, withStatus bool) {
	w.later(moment)
	key := named(about)
	old := w.host(key)
	h := &metal3.BareMetalHost{Spec: *old.Spec.DeepCopy()}
	h.Namespace, h.Name, h.Labels = old.Namespace, old.Name, maps.Clone(old.Labels)
	h.UID, h.Annotations = old.UID+"+", maps.Clone(old.Annotations)
	if _, kept := h.Annotations[names.Status]; withStatus && !kept { // one that was not restored yet is moved on as it is
		raw, err := json.Marshal(old.Status)
		if err != nil {
			panic(fmt.Sprintf("a status that has no JSON: %v", err)) //nolint:forbidigo // a status is plain values
		}
		h.Annotations = with(h.Annotations, names.Status, string(raw))
	}
	w.changeSecret(about, func(s *corev1.Secret) { s.Finalizers, s.OwnerReferences, s.Labels = nil, nil, nil })
	for _, kind := range []string{"BareMetalHost", "HardwareData", "PreprovisioningImage"} {
		delete(w.objects, objectKey{kind, key})
	}
	w.put(h)
	w.doubt.Restored = w.doubt.Restored || !withStatus
	a := w.asked[key]
	a.Inspections++
	_, detached := h.Annotations[names.Detached]
	if !withStatus {
		a.Anew = true
		a.Restarts = min(a.Restarts, w.restarting(systemOf(h))) + reboots(h) // nobody knows any more that one was begun
	}
	a.Forgotten = a.Forgotten || !withStatus && !detached && !w.active(systemOf(h)) && !tellsOfUse(h)
	w.asked[key] = a
	w.restart()
}

// tellsOfUse reports a host whose metadata, which no move and no backup lacks, say that something was deployed on its machine.
func tellsOfUse(h *metal3.BareMetalHost) bool { return h.Annotations[names.Deployed] != "" }

// active reports whether a machine's node says that something is installed.
func (w *World) active(address string) bool {
	for _, n := range w.nodes {
		if n.address == address && n.ProvisionState == ironic.StateActive {
			return true
		}
	}
	return false
}

// workedOn reports whether Ironic is at work on a host's machine: what was asked for before
// goes on.
func (w *World) workedOn(key types.NamespacedName) bool {
	for _, n := range w.nodes {
		if n.address == systemOf(w.host(key)) && n.ProvisionState.Busy() {
			return true
		}
	}
	return false
}
