package model

import (
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// What must hold. The first part is checked when Ironic takes a request, against what
// the users of the machine's hosts have asked for since its system was installed; the
// second where a host has come to rest.

// mayGo reports whether somebody has asked for what is installed on a machine to go.
func (w *World) mayGo(address string) bool {
	for _, key := range w.tenantsOf(address) {
		before, hidden := w.before[key] // what the cache does not show yet may have taken a wish back
		if a := w.asked[key]; a.Destroy || a.Free || a.Forgotten || hidden && differs(before, w.machines[address].Disk) {
			return true
		}
	}
	return false
}

// mayInspect reports whether somebody has asked for a machine to be inspected that nobody
// is known to use.
func (w *World) mayInspect(address string) bool {
	return slices.ContainsFunc(w.ownersOf(address), func(key types.NamespacedName) bool { return w.asked[key].Inspect })
}

// tenantsOf are the hosts whose wishes count for what is on a machine: the one that it was
// installed for, and all hosts of the machine where that is not known.
func (w *World) tenantsOf(address string) []types.NamespacedName {
	owners := w.ownersOf(address)
	if tenant, known := w.tenants[address]; known && slices.Contains(owners, tenant) {
		return []types.NamespacedName{tenant}
	}
	return owners
}

// wipe takes what is on a machine's disk, by the live image that Ironic boots on it: Ironic
// itself has switched the machine on, and so knows that it is.
func (w *World) wipe(id, how string) {
	n := w.nodes[id]
	if m := w.machines[n.address]; m.installed() && !w.mayGo(n.address) {
		w.breaks("WIPED UNASKED: Ironic %s the machine of node %s, which has %q on its disk, and nobody has asked for that to go", how, n.Name, m.Disk)
	}
	delete(w.tenants, n.address)
	w.set(n.address, func(m *machine) { m.Disk, m.On = "", true })
	w.change(id, func(n *node) { n.PowerState = ironic.PowerOn })
}

// boot restarts a machine out of its system, which Ironic does itself, as in wipe.
func (w *World) boot(id, how string) {
	n := w.nodes[id]
	if m := w.machines[n.address]; m.installed() && !w.mayGo(n.address) && (how != "inspects" || !w.mayInspect(n.address)) {
		w.breaks("INTERRUPTED UNASKED: Ironic %s the machine of node %s, which runs %q", how, n.Name, m.Disk)
	}
	w.set(n.address, func(m *machine) { m.On = true })
	w.change(id, func(n *node) { n.PowerState = ironic.PowerOn })
}

// installed ends the deployment of a node: from now on, that counts.
func (w *World) installed(n *node) {
	w.installs[n.address]++
	w.change(n.UUID, func(n *node) { n.begun = false })
	for _, key := range w.ownersOf(n.address) {
		h, a := w.host(key), w.asked[key]
		a.Destroy = h.DeletionTimestamp != nil || differs(h, w.machines[n.address].Disk)
		a.Off, a.Free, a.Forgotten, a.Inspect = keptOff(h), false, false, false
		a.Older = a.Older && h.Status.Provisioning.State != metal3.StateProvisioning
		w.asked[key] = a
		if id := h.Status.Provisioning.ID; id == n.UUID || id == "" && n.Name == nodespec.NodeName(h) { // it lost its status meanwhile
			w.tenants[n.address] = key
		}
	}
}

// reboots counts the annotations of a host that ask for a restart.
func reboots(h *metal3.BareMetalHost) int {
	count := 0
	for key := range h.Annotations {
		if isReboot(key) {
			count++
		}
	}
	return count
}

func isReboot(key string) bool {
	return key == names.Reboot || strings.HasPrefix(key, names.RebootPrefix)
}

// checkPower holds a change of power against what was asked for.
func (w *World) checkPower(n *node, target ironic.PowerState) {
	m := w.machines[n.address]
	if switchesOn(target) && n.ProvisionState == ironic.StateActive {
		w.checkKeptOff(n, "switches on")
	}
	if !m.installed() || !m.On || target == ironic.PowerOn || w.mayGo(n.address) {
		return
	}
	for _, key := range w.tenantsOf(n.address) {
		if a := w.asked[key]; a.Off || a.Restarts > 0 {
			return
		}
	}
	w.breaks("SWITCHED OFF UNASKED: Ironic is asked for %q of the machine of node %s, which runs %q", target, n.Name, m.Disk)
}

// restarted counts a running machine that was switched off.
func (w *World) restarted(address string) {
	for _, key := range w.tenantsOf(address) {
		if a := w.asked[key]; !a.Off && a.Restarts > 0 {
			a.Restarts--
			w.asked[key] = a
			return
		}
	}
}

// checkKeys finds an annotation by which a client keeps a machine off, and that the
// controller has taken away while the host lives.
func (w *World) checkKeys(before, after client.Object) {
	if after.GetDeletionTimestamp() != nil {
		return
	}
	for key := range before.GetAnnotations() {
		if _, there := after.GetAnnotations()[key]; !there && strings.HasPrefix(key, names.RebootPrefix) {
			w.breaks("TAKEN FROM A CLIENT: the controller removes the annotation %s of host %s", key, after.GetName())
		}
	}
}

// checkInspection holds an inspection against what was asked for.
func (w *World) checkInspection(n *node) {
	for _, key := range w.ownersOf(n.address) {
		if a := w.asked[key]; a.Inspections > 0 {
			a.Inspections--
			w.asked[key] = a
			return
		}
	}
	w.breaks("INSPECTED TWICE: the machine of node %s is inspected, and nobody has asked for that since the last time", n.Name)
}

// checkDeployment holds a deployment against what is asked for.
func (w *World) checkDeployment(n *node, wish string) {
	if strings.HasPrefix(wish, " with ") && strings.TrimSpace(wish) == "with" {
		w.breaks("DEPLOYED NOTHING: node %s is deployed without an image or a method", n.Name)
	}
	told := func(h *metal3.BareMetalHost) bool { return h != nil && tellsOfUse(h) }
	if !slices.ContainsFunc(w.ownersOf(n.address), func(key types.NamespacedName) bool { return told(w.host(key)) || told(w.before[key]) }) {
		w.breaks("NOT WRITTEN DOWN: node %s is deployed, and no host of its machine tells of that without its status", n.Name)
	}
	for _, key := range w.ownersOf(n.address) {
		if wishOf(w.host(key)) == wish || w.before[key] != nil && wishOf(w.before[key]) == wish {
			w.checkOnline(n, key)
			return
		}
	}
	w.breaks("DEPLOYED ANOTHER: node %s is deployed with %q, and no host of its machine asks for that", n.Name, wish)
}

// checkCutOff holds the end of a deployment, or of servicing, that is under way against what was
// asked for since it began.
func (w *World) checkCutOff(n *node, how string) {
	is := ""
	switch {
	case n.silent:
	case n.ProvisionState == ironic.StateDeployWait:
		is = n.wish + " is deployed"
	case n.ProvisionState == ironic.StateServiceWait && w.firmware == isAskedFor:
		is = "it is serviced"
	}
	if is == "" {
		return
	}
	for _, key := range w.ownersOf(n.address) {
		if a := w.asked[key]; a.Anew || a.Destroy || a.Forgotten {
			return
		}
	}
	w.breaks("CUT OFF UNASKED: Ironic %s the machine of node %s while %s, which is what is asked for", how, n.Name, is)
}

// checkEnrolled finds a second node for one machine, also beside one that is left of a host which was deleted before
// any controller had put its finalizer on it.
func (w *World) checkEnrolled(n *node) {
	for _, other := range w.nodes {
		if other.UUID != n.UUID && other.address == n.address {
			w.breaks("TWO NODES: %s and %s are nodes of one machine", other.Name, n.Name)
		}
	}
}

// checkRest says what is wrong with a host that nothing will wake any more: whether it
// has what is asked for, or says whom it waits for, and whether what it says is true.
func (w *World) checkRest(key types.NamespacedName) {
	h := w.host(key)
	if h == nil {
		return
	}
	status := h.Status
	condition := func(kind string) *metav1.Condition { return meta.FindStatusCondition(status.Conditions, kind) }
	if reconcile.KeptOff(h) != "" || reconcile.Moved(h) {
		return
	}
	w.checkInstalled(key)
	w.checkDoubt(h)
	n := w.nodes[status.Provisioning.ID]
	if c := condition(metal3.ReadyCondition); c != nil && c.Status == metav1.ConditionTrue && (n == nil || n.ProvisionState != ironic.StateActive && !n.Maintenance) {
		w.breaks("UNTRUE: host %s says that it is ready, and its node is %s", key.Name, stateOf(n))
	}
	note := view.Note{}
	if c := condition(metal3.ProgressingCondition); c != nil {
		note = view.ParseNote(c.Message)
	}
	_, due := w.timers[key]
	goesOn := due || n != nil && n.works()
	explained := forPerson(note) || goesOn && note.WaitingFor != "" || status.ErrorType != "" && status.ErrorMessage != ""
	if what := w.unfulfilled(h, n); what != "" && !explained {
		w.breaks("WAITS FOR NOTHING: host %s is in state %q, its node is %s; %s, nothing will wake it, and it says %q",
			key.Name, status.Provisioning.State, stateOf(n), what, note.Message())
	}
	if s := w.secretOf(h); s != nil && n != nil && status.ErrorType == "" && h.DeletionTimestamp == nil && note.WaitingFor == "" && n.password != string(s.Data["password"]) {
		w.breaks("UNTRUE: nothing is wrong with host %s, and Ironic does not know the password in its Secret", key.Name)
	}
	if n != nil && status.ErrorType == "" && h.DeletionTimestamp == nil && note.WaitingFor == "" && (n.DriverInfo["redfish_verify_ca"] == false) != h.Spec.BMC.DisableCertificateVerification {
		w.breaks("UNTRUE: nothing is wrong with host %s, and Ironic does not know whether its BMC's certificate is to be verified", key.Name)
	}
	_, detached := h.Annotations[names.Detached]
	if !detached && status.ErrorType == "" && h.DeletionTimestamp == nil && n != nil && n.PowerState != "" && status.PoweredOn != (n.PowerState == ironic.PowerOn) && note.WaitingFor == "" {
		w.breaks("UNTRUE: host %s says poweredOn %t, and its node is %q", key.Name, status.PoweredOn, n.PowerState)
	}
}

// persons are how those are named whom a host at rest may wait for: nothing that goes on by
// itself will wake it.
var persons = []string{"somebody", "a usable Secret", "a readable annotation", "the client", "an address and credentials"}

// forPerson reports whether a note says that somebody has to act.
func forPerson(n view.Note) bool {
	return slices.ContainsFunc(persons, func(who string) bool { return strings.HasPrefix(n.WaitingFor, who) })
}

// checkInstalled holds what a host that is provisioned says of its machine against that.
func (w *World) checkInstalled(key types.NamespacedName) {
	h := w.host(key)
	p, disk := h.Status.Provisioning, w.machineOf(h).Disk
	if p.State != metal3.StateProvisioned || h.Status.ErrorType != "" || h.DeletionTimestamp != nil || disk == outside || disk == "" || disk == partial ||
		w.untold(h) || w.ofAnother(h) {
		return
	}
	if said := wishText(&p.Image, p.CustomDeploy); said != disk && !besides(said, disk) {
		w.breaks("UNTRUE: host %s says that its machine has %q, and it has %q", key.Name, said, disk)
	}
}

// ofAnother reports that a host's machine was installed for another: it speaks of the machine that it had
// before it was detached and given this one's address.
func (w *World) ofAnother(h *metal3.BareMetalHost) bool {
	tenant, known := w.tenants[systemOf(h)]
	return known && tenant != named(h.Name)
}

// untold reports that nobody can tell that a host's status is older than what is on its
// machine: the node that this was installed by is gone.
func (w *World) untold(h *metal3.BareMetalHost) bool {
	n := w.nodes[h.Status.Provisioning.ID]
	return w.asked[named(h.Name)].Older && (n == nil || n.wish == "")
}

// besides reports whether a wish has another one's image or method, and is more or less besides.
func besides(a, b string) bool {
	urlA, methodA, _ := strings.Cut(a, " with ")
	urlB, methodB, _ := strings.Cut(b, " with ")
	return (urlA == urlB || urlA == "" || urlB == "") && (methodA == methodB || methodA == "" || methodB == "")
}

// secretOf is the Secret of a host's BMC; nil for none.
func (w *World) secretOf(h *metal3.BareMetalHost) *corev1.Secret {
	s, _ := w.objects[objectKey{"Secret", named(h.Spec.BMC.CredentialsName)}].(*corev1.Secret)
	return s
}

func stateOf(n *node) string {
	if n == nil {
		return "not there"
	}
	return string(n.ProvisionState)
}

// unfulfilled names what is asked of a host and is not so; empty for nothing.
func (w *World) unfulfilled(h *metal3.BareMetalHost, n *node) string {
	_, detach := h.Annotations[names.Detached]
	m, state := w.machineOf(h), h.Status.Provisioning.State
	switch wish := wishOf(h); {
	case h.DeletionTimestamp != nil:
		return "it is to be deleted"
	case detach && h.Status.OperationalStatus == metal3.OperationalStatusDetached:
		if n != nil {
			return "it is detached and has a node"
		}
		return ""
	case detach && (state == metal3.StateProvisioned || state == metal3.StateExternallyProvisioned || state == metal3.StateAvailable):
		return "it is to be detached"
	case h.Spec.ExternallyProvisioned && state != metal3.StateExternallyProvisioned && state != metal3.StateProvisioned:
		return "it is to be taken over as it is"
	case h.Spec.ExternallyProvisioned:
	case wish != "" && state == metal3.StateAvailable && !h.Spec.Online: // it is deployed when it is to be on
	case wish == "" && state != metal3.StateAvailable:
		return "it is to be available"
	case wish != "" && state != metal3.StateProvisioned:
		return "it is to be provisioned"
	case wish != "" && differs(h, m.Disk) && !w.untold(h) && !w.ofAnother(h):
		return "it is to have " + wish + " and has " + m.Disk
	}
	if reboots(h) == 0 && m.On != h.Spec.Online && !h.Spec.DisablePowerOff {
		return "its machine is to be " + string(power(h.Spec.Online))
	}
	return ""
}

// reasons are parts of what hosts say that fail although the world answers: only a person
// can end that.
var reasons = []string{
	"unauthorized", "deployments in a row have failed", "is left alone", "conflicts with", "does not exist", "cannot be read", "needs the keys",
	"one machine has one host", "bring the node to manageable",
}

// checkRecovered finds a host that fails after a long time in which all that it asks for
// is done.
func (w *World) checkRecovered() {
	for _, key := range w.hosts() {
		h := w.host(key)
		text := h.Status.ErrorMessage
		if h.Status.OperationalStatus == metal3.OperationalStatusDetached {
			continue // nothing is tried
		}
		if h.Status.ErrorType == "" || reconcile.KeptOff(h) != "" || reconcile.Moved(h) || slices.ContainsFunc(reasons, func(part string) bool { return strings.Contains(text, part) }) {
			continue
		}
		if c := meta.FindStatusCondition(h.Status.Conditions, metal3.ProgressingCondition); c != nil && forPerson(view.ParseNote(c.Message)) {
			continue // somebody keeps it from being tried again
		}
		w.breaks("NEVER RECOVERS: host %s is in state %q, its node is %s, and it still fails: %s", key.Name, h.Status.Provisioning.State,
			stateOf(w.nodes[h.Status.Provisioning.ID]), text)
	}
}
