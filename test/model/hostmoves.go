package model

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// edit changes a host as a user does.
func (w *World) edit(about string, change func(h *metal3.BareMetalHost)) {
	w.later(moment)
	key := named(about)
	before := w.host(key)
	after := before.DeepCopy()
	change(after)
	if !sameJSON(before.Spec, after.Spec) {
		after.Generation++
	}
	obj := objectKey{"BareMetalHost", key}
	w.replace(obj, after)
	w.before[key] = before
	w.wakeFor(obj, before, after)
	w.hear(key, before, after)
}

// hear takes down what a user's change asks for.
func (w *World) hear(key types.NamespacedName, before, after *metal3.BareMetalHost) {
	a, m := w.asked[key], w.machineOf(after)
	wasOff, isOff := keptOff(before), keptOff(after)
	switch {
	case isOff:
		a.Off = true
	case wasOff && m.On:
		a.Off, a.Restarts = false, a.Restarts+1 // it may have been asked for already
	case wasOff:
		a.Off = false
	}
	if more := reboots(after) - reboots(before); more > 0 {
		a.Restarts += more
		a.Inspections += forced(after) // one under way is begun anew
	}
	if _, was := before.Annotations[names.Detached]; was {
		a.Inspections++ // one that was cut off is made again
	}
	if _, was := before.Annotations[names.Inspect]; !was {
		if _, is := after.Annotations[names.Inspect]; is {
			a.Inspections++
			a.Inspect = !nodespec.InUse(after)
			stalled := meta.FindStatusCondition(before.Status.Conditions, view.StalledCondition)
			a.Destroy = a.Destroy || stalled != nil && stalled.Reason == "MachineMayBeInUse" // who has read that calls it free
		}
	}
	a.Anew = a.Anew || anew(before, after) || nodespec.InUse(before) && !sameJSON(before.Spec, after.Spec) && differs(after, saidToBe(before))
	a.Free = a.Free || !m.On && showsNothing(before) && wishOf(after) != "" && wishOf(after) != wishOf(before)
	for _, id := range sortedKeys(w.nodes) {
		if n := w.nodes[id]; n.address == systemOf(after) && n.wish != "" && differs(after, n.wish) {
			a.Anew = true
		}
	}
	a.Destroy = a.Destroy || m.installed() && !sameJSON(before.Spec, after.Spec) && differs(after, m.Disk) || declaredOther(before, after, m.Disk) ||
		w.untold(before) && !sameJSON(before.Spec, after.Spec) && differs(after, saidToBe(after))
	a.Forgotten = a.Forgotten || attachedAsNew(before, after) && !w.active(systemOf(after)) && !tellsOfUse(after)
	if w.takenBack(before, after) {
		a.Destroy = false
	}
	w.asked[key] = a
	if after.Spec.ExternallyProvisioned && !before.Spec.ExternallyProvisioned {
		w.keep(key)
		w.set(systemOf(after), func(m *machine) { m.Nobodys, m.Unsaid = false, m.Nobodys || m.Unsaid })
	}
}

// takenBack reports that a wish for something else than what is installed is taken back before Ironic was asked for anything,
// where all agree on what that is: the spec again, the status, and the one node of the machine.
func (w *World) takenBack(before, after *metal3.BareMetalHost) bool {
	state, address := before.Status.Provisioning.State, systemOf(after)
	m := w.machines[address]
	if state != metal3.StateProvisioned && state != metal3.StateDeprovisioning || before.DeletionTimestamp != nil || !m.installed() || m.Disk == outside ||
		!differs(before, m.Disk) || differs(after, m.Disk) || before.Spec.ExternallyProvisioned || after.Spec.ExternallyProvisioned ||
		systemOf(before) != address || saidToBe(before) != m.Disk || len(w.ownersOf(address)) > 1 || w.asked[named(after.Name)].Older {
		return false
	}
	n := w.nodes[before.Status.Provisioning.ID]
	return n != nil && n.address == address && n.wish == m.Disk && n.ProvisionState == ironic.StateActive
}

// saidToBe is what a host says to be on its machine, which may be gone.
func saidToBe(h *metal3.BareMetalHost) string {
	return wishText(&h.Status.Provisioning.Image, h.Status.Provisioning.CustomDeploy)
}

// showsNothing reports a host that shows nothing on its machine.
func showsNothing(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateAvailable
}

// anew reports a change that asks for the end of a deployment that is under way, or for another start.
func anew(before, after *metal3.BareMetalHost) bool {
	detach := after.Annotations[names.Detached]
	return strings.Contains(detach, "force") && detach != before.Annotations[names.Detached] ||
		forced(after) > forced(before) || after.Spec.ExternallyProvisioned != before.Spec.ExternallyProvisioned
}

// keep takes down that somebody says of a machine that what is on it is to be kept: whatever was asked for
// before, unless Ironic is at work on that.
func (w *World) keep(key types.NamespacedName) {
	if a := w.asked[key]; !w.workedOn(key) {
		a.Destroy, a.Free, a.Forgotten = false, false, false
		w.asked[key] = a
	}
}

// deleted is the deletion of a host. It asks for what is installed to go, unless that is kept as it is or
// is elsewhere now.
func (w *World) deleted(key types.NamespacedName) {
	h, a := w.host(key), w.asked[key]
	moved := reconcile.Moved(h)
	if !moved {
		a.Destroy, a.Off, a.Anew = a.Destroy || !h.Spec.ExternallyProvisioned, true, true
		w.asked[key] = a
	}
	if moved || len(h.Finalizers) == 0 {
		w.abandon(systemOf(h)) // nobody can hold it, or is to
		w.set(systemOf(h), func(m *machine) { m.Nobodys = true })
	}
	w.remove(objectKey{"BareMetalHost", key})
	w.woken[key] = true
}

// declaredOther reports another wish for a machine that somebody else has installed. Its
// user has said first what is on it, by a wish without externallyProvisioned.
func declaredOther(before, after *metal3.BareMetalHost, disk string) bool {
	said := wishOf(before)
	return disk == outside && !before.Spec.ExternallyProvisioned && said != "" && differs(after, said)
}

// attachedAsNew reports that a detached host is attached of which no status is left: where
// no node tells what its machine runs either, nobody can tell it from a new host.
func attachedAsNew(before, after *metal3.BareMetalHost) bool {
	_, was := before.Annotations[names.Detached]
	_, is := after.Annotations[names.Detached]
	return was && !is && after.Status.Provisioning.State == policy.StateNone
}

// keptOff reports whether a host's machine is asked to be off for as long as that stands.
func keptOff(h *metal3.BareMetalHost) bool {
	for key := range h.Annotations {
		if strings.HasPrefix(key, names.RebootPrefix) {
			return true
		}
	}
	return !h.Spec.Online
}

// forced counts the annotations of a host that ask for a restart with force.
func forced(h *metal3.BareMetalHost) int {
	count := 0
	for key, value := range h.Annotations {
		if isReboot(key) && strings.Contains(value, `"force":true`) {
			count++
		}
	}
	return count
}

// named is the host of a name.
func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "lab", Name: name}
}

// annotate is the two moves that put an annotation on a host and take it off.
func annotate(what, key, value string) []move {
	has := func(w *World, about string) bool { _, is := w.host(named(about)).Annotations[key]; return is }
	return []move{
		{
			user, "annotation " + what + " on", "", func(w *World, about string) bool { return !has(w, about) },
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = maps.Clone(h.Annotations)
					if h.Annotations == nil {
						h.Annotations = map[string]string{}
					}
					h.Annotations[key] = cmp.Or(value, "")
				})
			},
		},
		{
			user, "annotation " + what + " off", "", has,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) { delete(h.Annotations, key) })
			},
		},
	}
}

// hostMoves happen to a host. They are filled in by init, which joins them.
var hostMoves []move

func init() {
	hostMoves = []move{
		{
			user, "delete", "", func(w *World, about string) bool { return w.host(named(about)).DeletionTimestamp == nil },
			func(w *World, about string) {
				w.later(moment)
				w.deleted(named(about))
			},
		},
		{ // as clusterctl does before it deletes what it has moved
			user, "annotation delete-for-move on", "", func(w *World, about string) bool {
				h := w.host(named(about))
				return h.DeletionTimestamp == nil && !reconcile.Moved(h)
			},
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations, h.Finalizers = with(h.Annotations, names.DeleteForMove, ""), nil
				})
			},
		},
		annotate("delete-for-move", names.DeleteForMove, "")[1],
		{
			user, "a label on", "", func(w *World, about string) bool { return w.host(named(about)).Labels["some"] == "" },
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) { h.Labels = with(h.Labels, "some", "label") })
			},
		},
		{
			user, "retry", "", always,
			func(w *World, about string) {
				w.edit(about, func(h *metal3.BareMetalHost) {
					h.Annotations = with(h.Annotations, names.Retry, h.Annotations[names.Retry]+"i")
				})
			},
		},
	}
	for _, a := range [][3]string{
		{"reboot", names.Reboot, ""},
		{"hard forced reboot", names.Reboot, `{"mode":"hard","force":true}`},
		{"reboot by a client", names.Reboot + "/client", ""},
		{"forced reboot by a client", names.Reboot + "/fence", `{"force":true}`},
		{"inspect", names.Inspect, ""},
		{"paused", names.Paused, ""},
		{"hold", names.Hold, ""},
		{"detached", names.Detached, ""},
		{"detached by force", names.Detached, `{"force":true}`},
		{"other", "somebody/else", "x"},
	} {
		hostMoves = append(hostMoves, annotate(a[0], a[1], a[2])...)
	}
	hostMoves = slices.Concat(hostMoves, specMoves, addressMoves, secretMoves, firmwareMoves, copies)
}

func with(m map[string]string, key, value string) map[string]string {
	if m = maps.Clone(m); m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// abandon has nobody look after a machine's nodes any more.
func (w *World) abandon(address string) {
	for _, id := range sortedKeys(w.nodes) {
		if w.nodes[id].address == address {
			w.change(id, func(n *node) { n.abandoned = true })
		}
	}
}
