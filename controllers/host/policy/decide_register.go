package policy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1/profile"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// stepNew is the very first step of a host.
func stepNew(o *Observed, d *Decision) {
	if o.Host.HasBMCDetails() {
		enter(o, d, metal3.StateRegistering)
		return
	}
	enter(o, d, metal3.StateUnmanaged)
	d.Status.OperationalStatus = metal3.OperationalStatusDiscovered
	d.event("Discovered", "Discovered host with no BMC details")
	d.count(CountUnmanaged)
}

// stepUnmanaged waits for BMC details; a change of the spec wakes the host.
func stepUnmanaged(o *Observed, d *Decision) {
	if o.Host.HasBMCDetails() {
		enter(o, d, metal3.StateRegistering)
		return
	}
	d.wait(0, view.Note{Step: "unmanaged", WaitingFor: "an address and credentials of the BMC in the spec"})
}

// stepRegistering leaves registration once the node's credentials are verified.
func stepRegistering(o *Observed, d *Decision) {
	named := nodespec.HardwareProfile(o.Host)
	if _, err := profile.GetProfile(named); err != nil {
		fail(o, d, metal3.RegistrationError, causeSpec, "spec.hardwareProfile "+strconv.Quote(named)+" is not known: correct it, or remove it and set spec.rootDeviceHints")
		return
	}
	if !o.Firmware.Made { // whoever waits for the end of the registration finds them
		if n, ok := o.knownNode(d); ok {
			d.do(n.MakeFirmware())
		}
		return
	}
	complete(d)
	switch {
	case o.Host.Spec.ExternallyProvisioned:
		enterExternal(o, d)
	case o.Host.InspectionDisabled():
		d.event("InspectionSkipped", "inspection is disabled by the host's spec")
		enter(o, d, metal3.StatePreparing)
	default:
		enter(o, d, metal3.StateInspecting)
	}
	if d.Status.HardwareProfile = named; named != profile.DefaultProfileName {
		d.event("ProfileSet", "Hardware profile set: "+named) // the default says nothing, and would cost a request
	}
}

// ensureNode finds or enrols the host's node, proves its credentials, and keeps
// its fields and ports as this phase wants them. It has nothing to do for a node
// that is as wanted, and for one that is busy.
func ensureNode(o *Observed, d *Decision) {
	switch {
	case o.Missing:
		ensureEnrolled(o, d)
		return
	case o.Node == nil:
		d.do(LookUp{})
		return
	}
	if o.Node.UUID != o.Host.Status.Provisioning.ID {
		nameNode(o, d)
		return
	}
	if o.Node.Maintenance && !o.Deleting() && !o.settled() && !o.Node.ProvisionState.Busy() && ensureFields(o, d) {
		return // Ironic takes them in maintenance as well, and may reach the BMC by them
	}
	if blocked(o, d) {
		return
	}
	switch o.Node.ProvisionState {
	case ironic.StateEnroll:
		ensureVerified(o, d)
	case ironic.StateVerifying:
		awaitVerified(o, d)
	default:
		if !o.Node.ProvisionState.Busy() {
			ensureConfigured(o, d)
		}
	}
}

// ensureEnrolled creates the node. A host that is being deleted and cannot be
// enrolled has nothing left to undo.
func ensureEnrolled(o *Observed, d *Decision) {
	if o.BMC.Problem != "" {
		enter(o, d, StateDeleting)
		return
	}
	if otherNode(o, d) {
		return
	}
	if o.Settings.BuildImages && !o.Image.Asked && nodespec.BootsForInspection(o.Host) && o.State() == metal3.StateRegistering {
		d.do(AskImage{nodespec.ImageSpec(o.NodeInput())}) // built while the BMC is verified
		return
	}
	node := nodespec.Enrolment(o.NodeInput())
	d.do(Enrol{node})
	if nodespec.Marked(node) {
		doubtMachine(o, d)
	}
	triedCredentials(o, d)
	d.event("Registered", "Registered new host")
	d.count(CountRegistration)
}

// untilListed is how long a host waits at a time that is to be enrolled right after the program has started.
const untilListed = 5 * time.Second

// otherNode looks at another node that the host's BMC is said to have, whatever its name is, and waits until it is known
// which nodes there are: the machine would have two. It reports whether there is something to do for that.
func otherNode(o *Observed, d *Decision) bool {
	switch {
	case o.AtBMC != "":
		d.do(LookAtBMC{o.AtBMC})
	case o.Unlisted:
		d.wait(untilListed, view.Note{Step: "looking for the host's node", WaitingFor: "Ironic to list its nodes"})
	default:
		return false
	}
	return true
}

// ensureVerified brings a freshly enrolled node to manageable, which makes Ironic
// talk to the BMC.
func ensureVerified(o *Observed, d *Decision) {
	if ensureFields(o, d) || ensurePorts(o, d) {
		return
	}
	fresh := o.Node.LastError == "" || o.Applied != nil && o.Applied.SendSecrets
	if fresh || o.Failing() {
		if registrationGivenUp(o, d) {
			return
		}
		manage(o, d)
		return
	}
	afterFailure(o, d, o.registrationError(), func() { manage(o, d) })
	if d.NewlyFailing() {
		d.count(Count{Metric: MetricCredRefused})
	}
}

// verifyLimit is how long Ironic may verify a BMC: three times what one takes that
// swallows every request.
const verifyLimit = 15 * time.Minute

// Overdue reports a node that is verified for longer than that. Whoever did so has
// ended, since no BMC can make it last.
func (o *Observed) Overdue() bool {
	return o.Node != nil && o.Node.ProvisionState == ironic.StateVerifying && !o.Verifying.IsZero() && o.Now.Sub(o.Verifying) >= verifyLimit
}

// awaitVerified waits for the end of the verification. Ironic knows no request that
// ends it: past the limit all that can be done is to look whether it is over.
func awaitVerified(o *Observed, d *Decision) {
	switch {
	case !o.Overdue():
		left := verifyLimit
		if !o.Verifying.IsZero() {
			left -= o.Now.Sub(o.Verifying)
		}
		d.wait(min(left, lookAgain), view.Note{Step: "verifying the BMC credentials", WaitingFor: "the BMC to answer Ironic"})
	case registrationGivenUp(o, d):
	default:
		holder := "nobody"
		if o.Node.Reservation != "" {
			holder = "conductor " + strconv.Quote(o.Node.Reservation)
		}
		fail(o, d, o.registrationError(), causeVerifying, fmt.Sprintf("Ironic has been verifying the BMC for %s without an end; the node is locked by %s: "+
			"see that this conductor runs, or restart Ironic, which puts the node back", o.Now.Sub(o.Verifying).Round(time.Minute), holder))
	}
}

// registrationGivenUp ends the registration of a host that is being deleted and
// whose BMC has not answered for several attempts.
func registrationGivenUp(o *Observed, d *Decision) bool {
	if !failedToDelete(o) {
		return false
	}
	d.warn("DeletedWithoutDeprovisioning", "the BMC could not be verified; the host is released without touching the machine")
	d.count(Count{Metric: MetricDeleteNoDeprov})
	enter(o, d, StateDeleting)
	return true
}

// registrationError is the error type of a node that cannot be verified.
func (o *Observed) registrationError() metal3.ErrorType {
	if o.Host.Status.Provisioning.State == metal3.StateProvisioned {
		return metal3.ProvisionedRegistrationError
	}
	return metal3.RegistrationError
}

// ensureConfigured keeps a verified node as the phase wants it.
func ensureConfigured(o *Observed, d *Decision) {
	if !o.settled() && !restartFirst(o) && !asDesired(o, d) {
		return
	}
	if !sameCredentials(o.Host.Status.GoodCredentials, o.Host.Status.TriedCredentials) {
		leaveSecret(o, d, o.Host.Status.GoodCredentials)
		d.Status.GoodCredentials = *o.Host.Status.TriedCredentials.DeepCopy()
		d.event("BMCAccessValidated", "Verified access to BMC")
		d.Again = true
		return
	}
	if rememberCredentials(o, d) {
		d.Again = true
		return
	}
	switch {
	case !registrationFailing(o):
	case o.settled():
		o.knownNode(d) // so that it is compared
	default:
		clearError(d)
		d.Again = true
	}
}

// asDesired compares the node with what the phase wants, and reports whether that is it.
func asDesired(o *Observed, d *Decision) bool {
	n, ok := o.knownNode(d)
	if !ok || wantsImage(o, n) && !liveImage(o, d, n) || wantsPullSecret(o) && !pullSecretRead(o, d) {
		return false
	}
	if n, read := o.AsRead(); read && nodespec.OtherDriver(n.Node(), o.BMC) {
		d.do(n.SetMaintenance(driverReason))
		return false
	}
	if ensureFields(o, d) {
		return false
	}
	return !wantsPorts(o) || !ensurePorts(o, d)
}

// registrationFailing reports an error that is over once the node is as wanted: a
// Secret, an address or a live image that could not be used, a change that Ironic
// refused. One that the node's own state shows ends with that state.
func registrationFailing(o *Observed) bool {
	kind := o.Host.Status.ErrorType
	return (kind == metal3.RegistrationError || kind == metal3.ProvisionedRegistrationError) &&
		!o.Deleting() && !o.Node.ProvisionState.Failed() && o.Baseline() != BaselineUnproven
}

// ensureFields brings the node's fields to what is wanted, and reports whether
// there was something to do.
func ensureFields(o *Observed, d *Decision) bool {
	n, ok := o.knownNode(d)
	if !ok {
		return true
	}
	if begun, anew := nodespec.BeginsAnew(o.Host, n.Node(), o.Now); anew {
		d.Status.OperationHistory.Provision = metal3.OperationMetric{Start: begun}
		d.Again = true
		return true
	}
	want := desired(o, n)
	if o.Applied != nil && sameDesired(*o.Applied, want) {
		return false
	}
	d.do(n.Update(want))
	if want.SendSecrets {
		triedCredentials(o, d)
		d.count(Count{Metric: MetricCredentials})
	}
	return true
}

// ensurePorts creates missing ports and removes those of network interfaces that are
// gone, and reports whether there was something to do.
func ensurePorts(o *Observed, d *Decision) bool {
	want := nodespec.Ports(o.Host, newestHardware(o), o.SharedMACs)
	if len(want) == 0 || nodespec.PortsKey(o.Node.UUID, want) == o.Ports {
		return false
	}
	list := nodeaction.PortList{Ports: want, Gone: nodespec.PortsGone(o.Host, o.Hardware, o.Inventory, want)}
	if o.Fresh && list.Gone == nil {
		list.Missing = nodespec.PortsLacking(want, o.Ports)
	}
	if n, ok := o.knownNode(d); ok {
		d.do(n.EnsurePorts(list))
	}
	return true
}

// wantsPorts reports whether the phase needs the node's ports to be complete. At
// rest they were made complete before.
func wantsPorts(o *Observed) bool {
	return !o.phase().steady || o.Node.ProvisionState == ironic.StateManageable && o.State() != metal3.StateAvailable
}

// newSpec reports whether Ironic has not been told all of the present spec: the
// condition Manageable keeps the generation that it was told last, and the node itself what it was told.
func newSpec(o *Observed) bool {
	c := meta.FindStatusCondition(o.Host.Status.Conditions, metal3.ManageableCondition)
	return c == nil || c.ObservedGeneration != o.Host.Generation || o.Node != nil && nodespec.ToldOtherwise(o.Host, o.Node)
}

// forgetTold has the present spec be one that Ironic was not told of: what the status keeps of that is of
// another node, or of another object, whose generations are not this one's.
func forgetTold(s *metal3.BareMetalHostStatus) {
	if c := meta.FindStatusCondition(s.Conditions, metal3.ManageableCondition); c != nil {
		c.ObservedGeneration = 0
	}
}

// ToldOfSpec reports whether Ironic was told all of the spec in this pass. A node that only came to know of a doubt,
// or of an order, was not told of it, and has its name as it had it. Nor was one that is yet to be adopted.
func (o *Observed) ToldOfSpec() bool {
	if n, read := o.InFull(); read && nodespec.IsKept(n.Node()) && !slices.Contains(inUse, o.Node.ProvisionState) {
		return false
	}
	return o.Applied != nil && o.Applied.Name != nil
}

// settled reports a node at rest with which nothing is to be compared: neither the
// spec nor the Secret has changed since that was done.
func (o *Observed) settled() bool {
	_, known := o.InFull()
	return !known && o.phase().steady && !NewCredentials(o) && !newSpec(o) && o.Node.Name == nodespec.NodeName(o.Host)
}

// blocked reports a node that must not be touched now: one that a person took
// into maintenance, or one that Ironic has lost power control of. A host that is
// being deleted does not wait for its power, and none in a failure state that Ironic
// itself marked, since the next attempt clears the mark.
func blocked(o *Observed, d *Decision) bool {
	n := o.Node
	switch {
	case !n.Maintenance && n.Fault == "":
		return false
	case n.Fault == ironic.FaultPower && !o.Deleting():
		d.wait(lookAgain, view.Note{
			Step: "power failure", Text: n.LastError,
			WaitingFor: "the BMC to answer Ironic's power queries again, which are made every few minutes",
		})
	case inMaintenance(o, d):
	case n.Maintenance && n.Fault == "":
		endMaintenance(o, d) // what it was for is over, or was called off
	default:
		return false
	}
	return true
}

// inMaintenance waits while a person has the node in maintenance, and reports whether
// that may be so.
func inMaintenance(o *Observed, d *Decision) bool {
	if !o.Node.Maintenance {
		return false
	}
	n, ok := o.readNode(d) // for the reason, which the watch does not keep
	switch {
	case !ok:
	case !byPerson(o.Host, o.Sight, o.Failure):
		return false
	case n.Fault != "" && n.Reservation != "": // Ironic sets the fault first, and the reason when it has cleaned up
		d.wait(WaitBusy, view.Note{Step: "reading why the node is in maintenance", WaitingFor: "Ironic to end its handling of the failure"})
	case n.Fault != "" && o.Failure == nil && (n.LastError == "" || len(n.LastError) >= cutLength):
		readFailure(o, d) // it may be what the maintenance is for
	default:
		who := "somebody to take the node out of maintenance in Ironic"
		if o.Deleting() {
			who += ", or to release the host without its node by the annotation " + names.ForceDelete
		}
		d.wait(0, view.Note{Step: "in maintenance", Text: n.MaintenanceReason, WaitingFor: who})
	}
	return true
}

// byPerson reports whether neither Ironic nor a controller has set a node's maintenance, as far as its reason is known.
// Failure is what the node's history tells of its failure, once asked for.
//
// A fault does not tell: Ironic leaves it where a person gives the maintenance of a failure another reason, and keeps
// the reason of a person whose node fails, or whose machine it finds in maintenance and fails for that.
func byPerson(h *metal3.BareMetalHost, s nodeaction.Sight, failure *string) bool {
	ours := []string{detachReason, driverReason, deleteReason, otherDeleteReason, otherMachineReason}
	_, known := s.InFull()
	reason := whyMaintenance(s)
	switch {
	case !s.Node.Maintenance || slices.Contains(ours, reason):
		return false
	case s.Node.Fault == "":
		return true
	case !known || ironic.LostSight(reason):
		return false
	case ironic.FailedByMaintenance(reason): // of a person who gave none
		return true
	}
	told := []string{s.Node.LastError, h.Status.ErrorMessage}
	if failure != nil {
		told = append(told, *failure)
	}
	return !slices.ContainsFunc(told, func(text string) bool { return isReason(reason, text) })
}

// isReason reports whether a failure with a text is what a node's maintenance has as its reason. Ironic
// cuts that, and we complete what a host shows.
func isReason(reason, text string) bool {
	reason = strings.TrimSpace(reason)
	rest, is := strings.CutPrefix(strings.TrimSpace(text), reason)
	return is && reason != "" && (rest == "" || len(reason) >= cutLength || strings.HasPrefix(rest, hintStart))
}

// whyMaintenance is the reason of a node's maintenance; empty where the node was not read.
func whyMaintenance(s nodeaction.Sight) string {
	n, known := s.InFull()
	if !known {
		return ""
	}
	return n.MaintenanceReason
}

// endMaintenance takes the node out of maintenance.
func endMaintenance(o *Observed, d *Decision) {
	if n, ok := o.readNode(d); ok {
		d.do(n.EndMaintenance())
	}
}
