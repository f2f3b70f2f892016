package media

import (
	"path"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// Input is everything that decides about one DataImage: plain values, never changed.
type Input struct {
	// Now is the time of the decision.
	Now time.Time
	// Image is the object with its stored status.
	Image *metal3.DataImage
	// Host is the BareMetalHost of the same name; nil when there is none.
	Host *metal3.BareMetalHost
	// Open means that the host controller waits: with a power-on of a machine in use,
	// or, with one that is not, until nothing of its former use is inserted. Restart
	// means that a machine in use stays on until then, because its power must never be cut.
	Open, Restart bool
	// Since is when it began to wait; Freed means that it was let go in the meantime.
	Since time.Time
	Freed bool
	// Confirmed is the address that was seen inserted since Open; empty for none.
	Confirmed string
	// Node is the host's node, read in full in this pass; nil until asked for.
	Node *ironic.Node
	// Devices are the virtual media as the BMC shows them; nil until asked for.
	Devices *[]ironic.MediaDevice
	// Trial is what was last asked of Ironic while Open; zero for nothing.
	Trial Trial
	// Failure is why Ironic could not do it; nil until asked for.
	Failure *string
	// Due is when a failed attempt may be repeated; zero for now.
	Due time.Time
}

// Trial is a request that Ironic has accepted and works on in the background.
type Trial struct {
	// Do is Attach or Detach.
	Do Action
	// At is when it was accepted.
	At time.Time
}

// Action is the one call that a decision asks for.
type Action int

// The actions. Each is idempotent.
const (
	// Nothing is left to do in this pass.
	Nothing Action = iota
	// ReadNode reads the node in full.
	ReadNode
	// Look asks the BMC, through Ironic, what is inserted.
	Look
	// Attach asks Ironic to insert the image.
	Attach
	// Detach asks Ironic to eject it.
	Detach
	// ReadFailure reads why the last trial failed.
	ReadFailure
)

var actionNames = [...]string{"nothing", "read node", "look at virtual media", "attach virtual media", "detach virtual media", "read failure"}

// String returns the action in words.
func (a Action) String() string { return actionNames[a] }

// Verdict is what to do about a DataImage.
type Verdict struct {
	// Do is the next call.
	Do Action
	// Status is what the object's status shall be.
	Status metal3.DataImageStatus
	// Settled lets the machine start.
	Settled bool
	// Over means that the machine runs already, or is to stay off, or that nothing is
	// left to eject: the host does not wait any more.
	Over bool
	// Drop lets the object go, when it is being deleted.
	Drop bool
	// Failed counts an attempt that did not work out; the reason is in Status.Error.
	Failed bool
	// Wait says what is waited for, After is when to look again without being woken.
	Wait  string
	After time.Duration
	// Event is told once the status is what it shall be.
	Event *reconcile.Event
}

const (
	// lookSoon is how soon a node at work is looked at again.
	lookSoon = 2 * time.Second
	// grace is how long a BMC may take to show what it was told.
	grace = 15 * time.Second
	// clocks is how far Ironic's clock may be behind ours.
	clocks = time.Minute
	// ejectLimit is how long the deletion of a host waits for a BMC to eject.
	ejectLimit = 10 * time.Minute
)

// Reasons of events on DataImages.
const (
	EventAttached = "DataImageAttached"
	EventDetached = "DataImageDetached"
	EventFailed   = "DataImageFailed"
	EventLeft     = "DataImageLeft"
)

// Decide returns the next thing to do for a DataImage. Rules that need nothing
// from Ironic come first.
func Decide(in Input) Verdict {
	v := Verdict{Status: *in.Image.Status.DeepCopy()}
	for _, rule := range []func(Input, *Verdict) bool{
		hostAbsent, hostUnused, neverAttached, notNow, givenUp, backOff, nodeFree, mediaSeen,
	} {
		if rule(in, &v) {
			return v
		}
	}
	bringAbout(in, &v)
	return v
}

func deleting(in Input) bool { return !in.Image.DeletionTimestamp.IsZero() }

// wanted is the address that is to be inserted, empty for none: a machine that is
// not in use goes to its next user with an empty drive.
func wanted(in Input) string {
	if deleting(in) || !InUse(in.Host) {
		return ""
	}
	return in.Image.Spec.URL
}

func (v *Verdict) wait(after time.Duration, what string) bool {
	v.Wait, v.After = what, after
	return true
}

// hostAbsent lets the object of a host go that is not there: nobody could eject
// anything. The same holds for a host that Ironic does not manage at present.
func hostAbsent(in Input, v *Verdict) bool {
	switch {
	case in.Host == nil:
		v.Drop = deleting(in)
		return true
	case in.Host.Status.OperationalStatus != metal3.OperationalStatusDetached:
		return false
	case deleting(in):
		v.Drop = true
		v.left(in, "the host is detached from Ironic")
		return true
	}
	return v.wait(0, "somebody to attach the host again")
}

// InUse reports whether a host runs a system that may want data images.
func InUse(h *metal3.BareMetalHost) bool {
	state := h.Status.Provisioning.State
	return state == metal3.StateProvisioned || state == metal3.StateExternallyProvisioned
}

// left tells that a medium stays in the drive that nothing remembers any more.
func (v *Verdict) left(in Input, why string) {
	if url := in.Image.Status.AttachedImage.URL; url != "" {
		v.Event = &reconcile.Event{Warning: true, Reason: EventLeft, Message: ironic.Redact(url) +
			" may still be in the machine's virtual CD drive and is not ejected any more, because " + why + ": eject it at the BMC"}
	}
}

// hostUnused sees to a machine that was given back. Only a boot by virtual media
// empties its drive, so what was attached for the former use is ejected. When, says the
// host controller: before that, Ironic may be booting the machine by virtual media.
func hostUnused(in Input, v *Verdict) bool {
	switch {
	case InUse(in.Host):
		return false
	case in.Image.Status.AttachedImage.URL == "":
		v.Drop, v.Over = deleting(in), true
		return v.wait(0, "the host to be provisioned")
	case !in.Open:
		return v.wait(0, "the host to be available, to eject what was attached before")
	}
	return false
}

// timeLeft is how long a host that is being deleted still waits. of is false for a
// host that waits for as long as it takes.
func timeLeft(in Input) (left time.Duration, of bool) {
	if InUse(in.Host) || in.Host.DeletionTimestamp.IsZero() || !in.Open {
		return 0, false
	}
	begin := in.Host.DeletionTimestamp.Time
	if in.Since.After(begin) {
		begin = in.Since
	}
	return ejectLimit - in.Now.Sub(begin), true
}

// givenUp lets a host go that is being deleted and whose drive could not be emptied: a
// dead BMC must not hold it.
func givenUp(in Input, v *Verdict) bool {
	left, limited := timeLeft(in)
	if !in.Freed && (!limited || left > 0) {
		return false
	}
	v.Settled, v.Drop = true, deleting(in)
	if !in.Freed {
		v.left(in, "the host is being deleted and the BMC could not eject it within "+ejectLimit.String())
	}
	return v.wait(0, "the host to be gone")
}

// neverAttached lets an object go that has left no trace.
func neverAttached(in Input, v *Verdict) bool {
	v.Drop = deleting(in) && in.Image.Status.AttachedImage.URL == ""
	return v.Drop
}

// notNow leaves a running machine alone, and one whose media are as wanted.
func notNow(in Input, v *Verdict) bool {
	switch {
	case in.Open && InUse(in.Host) && !in.Restart && !in.Host.Spec.Online:
		v.Over = true // nobody wants to start the machine any more
		return v.wait(0, "the host's next power-on")
	case in.Open && in.Confirmed != "" && in.Confirmed == wanted(in) && in.Confirmed == in.Image.Status.AttachedImage.URL:
		v.Settled = true
		v.done(in)
		return true
	case in.Open:
		return false
	case wanted(in) != in.Image.Status.AttachedImage.URL:
		return v.wait(0, "the host's next power-on")
	}
	return true
}

// backOff spares a BMC that has just refused.
func backOff(in Input, v *Verdict) bool {
	if !in.Now.Before(in.Due) {
		return false
	}
	return v.wait(untilNext(in, in.Due.Sub(in.Now)), "the next attempt, after: "+in.Image.Status.Error.Message)
}

// nodeFree makes sure that nobody works on the node, and that its machine does not run
// a system of somebody's.
func nodeFree(in Input, v *Verdict) bool {
	n := in.Node
	switch {
	case n == nil:
		v.Do = ReadNode
	case n.Reservation != "" || n.TargetPowerState != "":
		v.wait(lookSoon, "Ironic to end what it does on the node ("+n.Reservation+")")
	case !InUse(in.Host):
		if !n.ProvisionState.Busy() {
			return false
		}
		v.wait(lookSoon, "the node to be at rest, it is "+string(n.ProvisionState))
	case n.ProvisionState != ironic.StateActive:
		v.wait(lookSoon, "the node to be active, it is "+string(n.ProvisionState))
	case n.PowerState != ironic.PowerOff && !in.Restart && in.Host.Status.PoweredOn:
		v.Over = true
		v.wait(0, "the host's next power-on")
	case n.PowerState != ironic.PowerOff && !in.Restart:
		v.wait(lookSoon, "the machine to be off")
	default:
		return false
	}
	return true
}

// mediaSeen makes sure that the BMC was looked at. A medium is announced in the
// status before anything is asked of the BMC.
func mediaSeen(in Input, v *Verdict) bool {
	if url := wanted(in); url != "" && in.Image.Status.AttachedImage.URL == "" {
		v.Status.AttachedImage.URL = url
		return v.wait(0, "the status to be saved")
	}
	if in.Devices == nil {
		v.Do = Look
		return true
	}
	return false
}

// bringAbout compares what is inserted with what is wanted.
func bringAbout(in Input, v *Verdict) {
	inserted := slices.ContainsFunc(*in.Devices, func(d ironic.MediaDevice) bool { return ours(d, in) })
	current := in.Image.Status.AttachedImage.URL == wanted(in)
	if in.Trial.Do == Attach && !current || in.Trial.Do == Detach && current {
		in.Trial = Trial{} // it was for a wish that is none any more
	}
	switch {
	case inserted && current:
		attached(in, v)
	case !inserted && !current:
		detached(in, v)
	case in.Trial.Do == Nothing && current:
		v.Do = Attach // for the first time, or because the BMC has lost it
	case in.Trial.Do == Nothing:
		v.Do = Detach
	case in.Now.Before(in.Trial.At.Add(grace)) && in.Node.LastError == "":
		v.wait(lookSoon, "the BMC to show what it was told")
	case in.Failure == nil:
		v.Do = ReadFailure
	default:
		failed(in, v, reasonOf(in))
	}
}

// ours tells a medium of ours from the image that a machine was booted with.
// Ironic hands images out under names of its own, unless the BMC is given the
// address as it is.
func ours(d ironic.MediaDevice, in Input) bool {
	if !d.Inserted || in.Image.Status.AttachedImage.URL == "" {
		return false
	}
	return d.Image == "" || d.Image == in.Image.Status.AttachedImage.URL || strings.HasPrefix(path.Base(d.Image), "cdrom")
}

func attached(in Input, v *Verdict) {
	v.Settled = true
	v.done(in)
	if in.Trial.Do == Attach {
		v.Event = &reconcile.Event{Reason: EventAttached, Message: "The image is in the machine's virtual CD drive: " + ironic.Redact(wanted(in))}
	}
}

// detached ends a deletion. When another image is wanted it is the first half,
// and announces the second.
func detached(in Input, v *Verdict) {
	v.Status.AttachedImage.URL = wanted(in)
	v.done(in)
	if in.Trial.Do == Detach {
		v.Event = &reconcile.Event{Reason: EventDetached, Message: "The virtual CD drive is empty: " + ironic.Redact(in.Image.Status.AttachedImage.URL) + " was ejected"}
	}
	if deleting(in) {
		v.Drop = true
		return
	}
	v.wait(0, "the status to be saved")
}

// done notes a success, if that is news.
func (v *Verdict) done(in Input) {
	if in.Trial.Do == Nothing && v.Status.Error == (metal3.DataImageError{}) && v.Status.LastReconciled != nil {
		return
	}
	now := metav1.NewTime(in.Now).Rfc3339Copy()
	v.Status.LastReconciled, v.Status.Error = &now, metal3.DataImageError{}
}

func reasonOf(in Input) string {
	for _, text := range []string{*in.Failure, in.Node.LastError} {
		if text != "" {
			return text
		}
	}
	return "the BMC does not show the change and Ironic gives no reason"
}

// failed notes an attempt that did not work out.
func failed(in Input, v *Verdict, message string) {
	now := metav1.NewTime(in.Now).Rfc3339Copy()
	v.Failed = true
	v.Status.LastReconciled = &now
	v.Status.Error = metal3.DataImageError{Count: in.Image.Status.Error.Count + 1, Message: message}
	v.Event = &reconcile.Event{Warning: true, Reason: EventFailed, Message: message}
	v.wait(untilNext(in, attemptAgain(in.Image, v.Status.Error.Count)), "the next attempt, after: "+message)
}

// untilNext shortens a pause to what is left of the deletion's patience.
func untilNext(in Input, pause time.Duration) time.Duration {
	if left, limited := timeLeft(in); limited {
		return max(0, min(pause, left))
	}
	return pause
}

// attemptAgain is the pause after the n-th failure in a row.
func attemptAgain(image *metal3.DataImage, n int) time.Duration {
	return reconcile.BackOff(image.Namespace+"/"+image.Name+"/"+string(image.UID), n)
}
