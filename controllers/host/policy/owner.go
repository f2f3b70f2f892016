package policy

import (
	"fmt"
	"strconv"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// causeForeign is the cause of a node that is, or may be, another host's.
const causeForeign = "NodeOfAnotherHost"

// Owner is what is known of whose a node is that was found for the host.
type Owner struct {
	// Shown is the id of a node that was shown to be the host's, though its name does
	// not say so.
	Shown string
	// Foreign is why the node that was found is not taken for the host's; empty for
	// nothing against it.
	Foreign string
	// Other is the id of a node that has the host's name without the namespace, and
	// that is another host's for certain: it is passed over.
	Other string
	// Enrolled is the id of a node that an earlier enrolment of this host made, and that
	// somebody has renamed before its id was stored; empty for none.
	Enrolled string
}

// owned reports whether the node that was found is known to be the host's.
func owned(o *Observed) bool {
	return o.Node.Name == nodespec.NodeName(o.Host) || o.Node.UUID == o.Owner.Shown
}

// concernOwner lets nothing happen to a node before it is known to be the host's. A
// host that is being deleted has no node then, and goes.
func concernOwner(o *Observed, d *Decision) {
	switch {
	case isDetached(o.Host) && !o.Deleting():
	case o.Owner.Foreign == "":
		if o.Node != nil && !owned(o) {
			if n, ok := o.knownNode(d); ok {
				d.do(n.FindOwner())
			}
		}
	case !o.Deleting():
		fail(o, d, o.registrationError(), causeForeign, o.Owner.Foreign)
	case o.State() != StateDeleting:
		d.warn(causeForeign, "the host is deleted without touching a machine: "+o.Owner.Foreign)
		enter(o, d, StateDeleting)
	default:
		d.do(Release{})
	}
}

// Evidence is what speaks for and against a node being a host's.
type Evidence struct {
	// Enrolled means that the node has the id that the host's enrolment names.
	Enrolled bool
	// OnPort means that the host's boot MAC address is on one of the node's ports.
	OnPort bool
	// ByID, ByMAC and ByName are other hosts: whose status names the node, that have
	// the same boot MAC address, and that have the same name and no other address.
	ByID, ByMAC, ByName []string
	// Named is the host that has the node's name, and no other node by its id.
	Named string
}

// Judge says whose a node is that was found for a host: its own by its full name; by
// its id, that of its status or of its enrolment, unless another host has the same or
// the node's name; by the boot MAC
// address or the name without the namespace, where nothing else speaks for another
// host. Where none is seen that it would belong to, it may be one's that this
// controller does not watch.
func Judge(h *metal3.BareMetalHost, n *ironic.Node, e Evidence) Owner {
	full := nodespec.NodeName(h)
	foreign := func(format string, args ...any) Owner {
		return Owner{Foreign: fmt.Sprintf("node %s in Ironic is left alone: %s; if it is this host's machine, name it %s in Ironic, otherwise correct or delete the host that is wrong",
			DisplayName(&n.Row), fmt.Sprintf(format, args...), full)}
	}
	shortName := n.Name == h.Name
	byStatus := n.UUID == h.Status.Provisioning.ID
	known := "this host's status names it"
	if !byStatus {
		known = "it was made for this host"
	}
	switch {
	case n.Name == full:
		return Owner{Shown: n.UUID}
	case (byStatus || e.Enrolled) && e.Named != "":
		return foreign("%s, but its name is that of host %s", known, e.Named)
	case (byStatus || e.Enrolled) && len(e.ByID) > 0:
		return foreign("%s, and so does that of host %s", known, e.ByID[0])
	case byStatus || e.Enrolled:
		return Owner{Shown: n.UUID}
	case len(e.ByID) > 0 && shortName:
		return Owner{Other: n.UUID}
	case len(e.ByID) > 0:
		return foreign("the status of host %s names it", e.ByID[0])
	case n.InstanceUUID != "" && !strings.EqualFold(n.InstanceUUID, string(h.UID)):
		return foreign("it was deployed for another host (its instance_uuid is %s)", n.InstanceUUID)
	case n.Name != "" && !shortName:
		return foreign("it has the name of something else")
	case !e.OnPort:
		return foreign("it has this host's name without the namespace, but no port with its boot MAC address %s", strconv.Quote(h.Spec.BootMACAddress))
	case nodespec.OfOtherMachine(h, &n.Row, n):
		return foreign("it has this host's boot MAC address, but another BMC than this host")
	case len(e.ByMAC) > 0:
		return foreign("host %s has the boot MAC address %s as well", e.ByMAC[0], h.Spec.BootMACAddress)
	case shortName && len(e.ByName) > 0:
		return foreign("host %s has the same name without the namespace, and nothing that tells them apart", e.ByName[0])
	}
	return Owner{Shown: n.UUID}
}

// JudgeAtBMC says whose a node is that has the BMC of a host which no node was found for: not the
// host's. It is named by its id alone: who may read one namespace is not to learn what is in others.
func JudgeAtBMC(h *metal3.BareMetalHost, id string) Owner {
	return Owner{Foreign: fmt.Sprintf("node %s in Ironic is left alone: it has this host's BMC (%s), and a machine has one node; "+
		"if it is this host's, name it %s in Ironic, otherwise remove it there, or correct or delete the host that is wrong", id, h.Spec.BMC.Address, nodespec.NodeName(h))}
}

// DisplayName is a node's name, or its id where it has none.
func DisplayName(n *ironic.Row) string {
	if n.Name == "" {
		return n.UUID
	}
	return n.Name
}

// Weigh adds to the evidence what another host has in common with the node.
func (e *Evidence) Weigh(h, other *metal3.BareMetalHost, n *ironic.Row) {
	name, id := other.Namespace+"/"+other.Name, other.Status.Provisioning.ID
	mac, theirs := h.Spec.BootMACAddress, other.Spec.BootMACAddress
	same := mac != "" && strings.EqualFold(mac, theirs)
	if id == n.UUID {
		e.ByID = append(e.ByID, name)
	}
	if same {
		e.ByMAC = append(e.ByMAC, name)
	}
	if other.Name == h.Name && (same || theirs == "") {
		e.ByName = append(e.ByName, name)
	}
	if nodespec.NodeName(other) == n.Name && (id == "" || id == n.UUID) {
		e.Named = name
	}
}

// causeDouble is the cause of a host whose machine is another host's.
const causeDouble = "MachineOfAnotherHost"

// Double is the other host that a host's machine belongs to; the zero value is none.
type Double struct {
	// Why says what the two have in common, for the host's status and events. It names the
	// other one only to those who may read it: who may read one namespace may not read all.
	Why string
	// Other is the other one's namespace and name, for the log.
	Other string
}

// JudgeDouble says which of the others the machine of a host belongs to rather than to the
// host itself, and why. Of several it is the same one each time. inIronic tells that Ironic has a node of
// a host, by its id or full name: that of a host whose status is lost is its own, too.
// Of detached hosts none is attached: each may have been given the address since, and what
// the status says to be on a machine may be of another one. A host of which that is known has
// no claim beside one with a node; beside a new one neither gets the machine: its BMC may have
// been given another address, and run what the detached host has deployed. Of two that are in use neither comes first, but
// what would take the system of one down for the other is not done.
func JudgeDouble(h *metal3.BareMetalHost, others []*metal3.BareMetalHost, inIronic func(*metal3.BareMetalHost) bool) Double {
	known := func(h *metal3.BareMetalHost) bool {
		return hasItsNode(h) || h.Status.Provisioning.ID == "" && !isDetached(h) && inIronic(h)
	}
	standing := func(h *metal3.BareMetalHost) int { return standing(h, known(h)) }
	without := !inIronic(h)
	first := h
	for _, other := range others {
		if destroys(h) && isInstalled(other) && nodespec.SameMachine(h, other) != "" {
			if first == h || comesFirst(other, first, standing) {
				first = other
			}
			continue
		}
		second := without && !isDetached(other) && inIronic(other) // it would get a second node of the machine
		if nodespec.SameMachine(h, other) == "" || isMoved(other) && known(h) && !isMoved(h) || !second && standing(h) == standing(other) && standing(h) >= isUsed && !isDetached(h) && !isMoved(h) {
			continue // both are in use: nobody knows whose it is, and neither is held up
		}
		if comesFirst(other, first, standing) || first == h && (second || isMoved(h) || isDetached(h) && (known(other) || isDetached(other) || WantsDetach(other))) {
			first = other
		}
	}
	if first == h {
		return Double{}
	}
	d := Double{Other: first.Namespace + "/" + first.Name}
	if first.Namespace == h.Namespace {
		d.Why = fmt.Sprintf("host %s has the same %s, and one machine has one host: correct or delete the host that is wrong", d.Other, nodespec.SameMachine(h, first))
		return d
	}
	d.Why = fmt.Sprintf("a host of another namespace has the same %s, and one machine has one host: correct or delete the host that is wrong; "+
		"who may list hosts of all namespaces finds the other one by that, and the controller's log names it", nodespec.SameMachine(first, h)) // as this host spells it
	return d
}

// destroys reports a host that is about to have its machine's system taken down, or has it taken down: it is that of all hosts
// of the machine, and another one of them may need it.
func destroys(h *metal3.BareMetalHost) bool {
	return !isDetached(h) && (h.DeletionTimestamp != nil || h.Status.Provisioning.State == metal3.StateDeprovisioning ||
		isInstalled(h) && nodespec.OtherWanted(h))
}

// isInstalled reports a host whose machine has its system, or is about to. What a detached host, or one that was given another
// address, says of that may be of another machine.
func isInstalled(h *metal3.BareMetalHost) bool {
	return standing(h, false) == isUsed && h.Status.Provisioning.State != metal3.StateDeprovisioning && !isDetached(h) && !isMoved(h)
}

// hasItsNode reports a host that has a node by now. It was let to its machine, so that a detached one of that
// machine was given its address since: attached, it would have another node there.
func hasItsNode(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.ID != "" && !isDetached(h)
}

// comesFirst reports whether a machine is rather a's than b's: that of the one that is in
// use, rather with a node than without, else of the one that has a node, else of the
// older one.
func comesFirst(a, b *metal3.BareMetalHost, standing func(*metal3.BareMetalHost) int) bool {
	if x, y := standing(a), standing(b); x != y {
		return x > y
	}
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Namespace+"/"+a.Name < b.Namespace+"/"+b.Name
}

// How much speaks for a machine being a host's.
const (
	isNew = iota
	hasNode
	isUsed        // but has no node, as after it was detached: its address may be another one since
	isUsedByANode // likewise with a node
)

// Standing is how much speaks for the machine that a host names being its own: more for a
// greater number. Whose a machine is of several hosts may change with it.
func Standing(h *metal3.BareMetalHost) int { return standing(h, hasItsNode(h)) }

func standing(h *metal3.BareMetalHost, known bool) int {
	switch h.Status.Provisioning.State {
	case metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateExternallyProvisioned, metal3.StateDeprovisioning:
		if known {
			return isUsedByANode
		}
		return isUsed
	default:
	}
	if known || h.Status.Provisioning.ID != "" {
		return hasNode
	}
	return isNew
}

// concernDouble lets nothing happen to a machine that is another host's. A host that is
// being deleted goes without it.
func concernDouble(o *Observed, d *Decision) {
	switch {
	case o.Double == Double{}:
		if stalledBy(o, causeDouble) {
			clearError(d)
			d.Again = true
		}
	case o.State() == StateDeleting, isDetached(o.Host) && WantsDetach(o.Host) && !o.Deleting(), Detaching(o):
	case o.State() == StateNone, o.State() == metal3.StateUnmanaged: // nothing is done there
	case o.Deleting():
		d.warn(causeDouble, "the host is deleted without touching a machine: "+o.Double.Why)
		d.Other = o.Double.Other
		enter(o, d, StateDeleting)
	case isDetached(o.Host): // it stays so: attached, it would have the machine of the other one
		d.Other = o.Double.Other
		d.wait(0, view.Note{Step: "not attached", Text: o.Double.Why, WaitingFor: "somebody to correct or delete one of the two hosts"})
	default:
		if !o.Failing() || o.Host.Status.ErrorMessage != o.Double.Why {
			fail(o, d, o.registrationError(), causeDouble, o.Double.Why)
			d.Other = o.Double.Other
			if hardware := examined(o); hardware != nil {
				d.Status.HardwareDetails = hardware // it is found by them when the other one goes, and known to be stopped for them after a restart
			}
		}
		d.wait(0, view.Note{Step: "looking for the host's machine", WaitingFor: "somebody to correct or delete one of the two hosts"})
	}
}
