package policy

import (
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// Decision is what [decide] wants done: at most one action. Status, events and
// counts count only if the action is accepted (or there is none).
type Decision struct {
	// Status is the status that the host shall have.
	Status metal3.BareMetalHostStatus
	// Do is the one action; nil for none.
	Do Action
	// Again asks for another decision in the same pass although there is no action.
	Again bool
	// Wait says what happens meanwhile when there is nothing to do.
	Wait Wait
	// Events are published when the status has been saved.
	Events []reconcile.Event
	// Counts are counters to raise.
	Counts []Count
	// DropAnnotations are removed from the host.
	DropAnnotations []string
	// ReleaseSecrets names Secrets that the host has no use for any more.
	ReleaseSecrets []string
	// Cause is the reason of a new error, for the Stalled condition.
	Cause string
	// Other names another host that this is about, for the log alone: see [Double].
	Other string
}

// Wait says what a host at rest in this pass waits for.
type Wait struct {
	view.Note
	// After is the upper bound of the wait; zero means that only watches wake the host.
	After time.Duration
}

// Upper bounds of waiting. The node watch, the objects and the hub wake earlier.
const (
	// lookAgain bounds how long a node in a busy state is believed without a look.
	lookAgain = 5 * time.Minute
	// waitImage bounds the wait for a live image.
	waitImage = 5 * time.Minute
	// waitSecret is how often a missing Secret is looked for: unlabelled Secrets are
	// not in the cache, so no watch tells.
	waitSecret = 10 * time.Second
	// WaitBusy is how soon a locked node is tried again if the watch says nothing.
	WaitBusy = 3 * time.Second
	// WaitAborted is how soon an operation that was aborted is looked at again if
	// the watch says nothing: an abort may be put off to the end of a step.
	WaitAborted = 10 * time.Second
	// waitVerdict is how long a failed deploy step gets to report by itself when
	// the hub has declared the installation failed.
	waitVerdict = 10 * time.Second
)

// decideWith returns the decision that keeps everything as it is.
func decideWith(o *Observed) *Decision {
	return &Decision{Status: CopyStatus(o.Host.Status)}
}

// CopyStatus copies a status deeply, but for the hardware details, the largest
// part: they are only ever replaced as a whole.
func CopyStatus(s metal3.BareMetalHostStatus) metal3.BareMetalHostStatus {
	hardware := s.HardwareDetails
	s.HardwareDetails = nil
	c := s.DeepCopy()
	c.HardwareDetails = hardware
	return *c
}

// do asks for an action.
func (d *Decision) do(a Action) { d.Do = a }

// wait ends the pass with a note for readers.
func (d *Decision) wait(after time.Duration, note view.Note) { d.Wait = Wait{Note: note, After: after} }

// event adds a normal event.
func (d *Decision) event(reason, message string) {
	d.Events = append(d.Events, reconcile.Event{Reason: reason, Message: message})
}

// warn adds a warning event.
func (d *Decision) warn(reason, message string) {
	d.Events = append(d.Events, reconcile.Event{Reason: reason, Message: message, Warning: true})
}

// count raises a counter.
func (d *Decision) count(c Count) { d.Counts = append(d.Counts, c) }

// idle reports whether nothing at all is to be done or changed.
func (d *Decision) idle() bool { return d.Do == nil && !d.Again }
