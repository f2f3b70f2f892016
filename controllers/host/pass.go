package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// maxDecisions bounds a pass. The longest known chain, from nothing to a node
// that is being verified, takes twelve; reaching the bound means a cycle.
const maxDecisions = 40

// busyShown is how long a node must have been locked before its holder is shown:
// short locks are everyday.
const busyShown = 30 * time.Second

// pass is one run through a host: what is observed, and what was come to.
type pass struct {
	*Reconciler
	endpoint // the host's Ironic
	log      logr.Logger
	saver    *reconcile.Saver[*metal3.BareMetalHost]
	o        policy.Observed
	events   []reconcile.Event
	cause    string // of an error that was recorded in this pass
	down     string // why Ironic cannot be asked
	asked    bool   // Ironic was asked to start something
	gone     bool   // the host's finalizer was removed
	// nodeRemoved means that the host's node is gone and the host is yet to be released.
	nodeRemoved bool

	lost      silence // of the agent, as the pass began
	failedNow bool    // an error was recorded
	later     bool    // a note was put off
}

// run alternates decisions and actions until the host has to wait.
func (p *pass) run(ctx context.Context) (policy.Wait, error) {
	for range maxDecisions {
		p.o.Now = time.Now()
		d := policy.Decide(&p.o)
		wait, more, err := p.carryOut(ctx, d)
		if err != nil || !more {
			return wait, err
		}
	}
	return policy.Wait{}, fmt.Errorf("host %s came to no rest in phase %q", client.ObjectKeyFromObject(p.o.Host), p.o.State())
}

// carryOut does what was decided; more is false when the pass is over.
func (p *pass) carryOut(ctx context.Context, d *policy.Decision) (wait policy.Wait, more bool, err error) {
	if d.Do == nil {
		err := p.accept(ctx, d)
		return d.Wait, d.Again && !d.NewlyFailing(), err
	}
	if policy.Announced(d.Do, p.saver.Before().Status.Provisioning.State) && p.phaseUnsaved() {
		if err := p.save(ctx, p.noteAfter(d)); err != nil {
			return policy.Wait{}, false, err
		}
		// What was saved stays said: the result is no reason for a second patch.
		d.Status.Conditions, d.Status.LastUpdated = p.o.Host.Status.Conditions, p.o.Host.Status.LastUpdated
	}
	if err := p.execute(ctx, d.Do); err != nil {
		return p.refused(ctx, d, err)
	}
	p.metrics.Add(policy.Count{Metric: metrics.Actions, Labels: []string{d.Do.Name(), "accepted"}})
	if policy.ToIronicWrite(d.Do) {
		p.log.V(1).Info("done", "action", d.Do.Name())
	}
	p.o.Busy = policy.Holder{}
	if err := p.accept(ctx, d); err != nil || p.gone {
		return policy.Wait{}, false, err
	}
	if _, removed := d.Do.(policy.Remove); removed && p.o.Deleting() {
		p.nodeRemoved = true
		return policy.Wait{}, false, nil
	}
	if t, ok := d.Do.(policy.Transition); ok && t.Target == ironic.TargetAbort {
		return policy.Wait{Note: view.Note{Step: "ending what Ironic does"}, After: policy.WaitAborted}, false, nil
	}
	return d.Wait, !d.NewlyFailing(), nil
}

// noteAfter is what will be said once the action of a decision is accepted, so
// that saving the intent and the result takes one patch.
func (p *pass) noteAfter(d *policy.Decision) view.Note {
	t, ok := d.Do.(policy.Transition)
	if !ok || p.o.Node == nil {
		return view.Note{Step: d.Do.Name()}
	}
	next, node := p.o, *p.o.Node
	next.Node = &node
	expectTransition(&node, t.Target)
	return policy.Decide(&next).Wait.Note
}

// accept makes a decision's status the host's.
func (p *pass) accept(ctx context.Context, d *policy.Decision) error {
	h := p.o.Host
	for _, name := range d.ReleaseSecrets { // while the status still names them
		if err := p.secrets.leave(ctx, h, name); err != nil {
			return err
		}
	}
	if from, to := p.o.State(), d.Status.Provisioning.State; from != to {
		if err := p.recordRegistering(ctx, from, d); err != nil {
			return err
		}
		p.log.Info("phase", "from", from, "to", to)
		p.metrics.Left(h, from, p.o.Now)
	}
	if d.NewlyFailing() {
		p.cause, p.failedNow = d.Cause, true
		p.log.Info("failed", "errorType", d.Status.ErrorType, "attempt", d.Status.ErrorCount, "reason", d.Status.ErrorMessage)
	} else if d.Status.ErrorType == "" {
		p.cause = ""
	}
	h.Status = d.Status
	p.events = append(p.events, d.Events...)
	p.metrics.AddFor(client.ObjectKeyFromObject(h), d.Counts...)
	if len(d.DropAnnotations) == 0 {
		return nil
	}
	// What the annotation asked for is in the status, or in Ironic, before it goes.
	if err := p.save(ctx, d.Wait.Note); err != nil {
		return err
	}
	return p.saver.Metadata(ctx, h, func(h *metal3.BareMetalHost) {
		for _, key := range d.DropAnnotations {
			delete(h.Annotations, key)
		}
	})
}

// recordRegistering stores that a host was being registered before it goes on, where
// that is not stored yet: whoever watches a host enter the fleet waits for it, and the
// program may have been killed after Ironic was asked and before that was written.
func (p *pass) recordRegistering(ctx context.Context, from policy.State, d *policy.Decision) error {
	if from != metal3.StateRegistering || p.saver.Before().Status.Provisioning.State == from {
		return nil
	}
	if err := p.save(ctx, view.Note{Step: "registered"}); err != nil {
		return err
	}
	d.Status.Conditions, d.Status.LastUpdated = p.o.Host.Status.Conditions, p.o.Host.Status.LastUpdated
	return nil
}

// refused deals with an action that was not accepted, by the kind of the answer.
func (p *pass) refused(ctx context.Context, d *policy.Decision, err error) (policy.Wait, bool, error) {
	if kubernetes := apierrors.ReasonForError(err) != metav1.StatusReasonUnknown; kubernetes || !policy.ToIronic(d.Do) {
		return policy.Wait{}, false, err
	}
	kind := ironic.KindOf(err)
	p.metrics.Add(policy.Count{Metric: metrics.Actions, Labels: []string{d.Do.Name(), kind.String()}})
	switch {
	case ctx.Err() != nil:
		return policy.Wait{}, false, ctx.Err()
	case kind == ironic.Busy:
		_, power := d.Do.(policy.Power)
		p.o.TurnedAway = power && policy.MarkOf(p.o.Host) != nil
		return p.busy(d.Do, err), false, nil
	case kind == ironic.Gone:
		p.lose(policy.Unknown)
		return policy.Wait{}, true, nil
	case kind == ironic.Rejected:
		return p.rejected(ctx, d.Do, err)
	}
	p.down = textOf(err)
	p.metrics.Add(policy.Count{Metric: metrics.NotReady})
	return policy.Wait{Note: view.Note{Step: d.Do.Name()}, After: reconcile.DefaultUnavailable}, false, nil
}

// busy waits for whoever holds the node. A lock that lasts is shown.
func (p *pass) busy(action policy.Action, err error) policy.Wait {
	if p.o.Busy.Since.IsZero() {
		p.o.Busy.Since = p.o.Now
	}
	p.o.Busy.Text = textOf(err)
	wait := policy.Wait{Note: view.Note{Step: action.Name()}, After: policy.WaitBusy}
	if p.o.Now.Sub(p.o.Busy.Since) >= busyShown {
		wait.Text = "Ironic turns it away: " + p.o.Busy.Text
		wait.WaitingFor = "whoever holds the node in Ironic"
	}
	return wait
}

// rejected turns Ironic's refusal into the phase's error, but for soft power
// actions, which some drivers do not have, and the abort of a deployment, which
// older Ironics do not.
func (p *pass) rejected(ctx context.Context, action policy.Action, err error) (policy.Wait, bool, error) {
	if a, ok := action.(policy.Power); ok && (a.Target == ironic.PowerSoftOff || a.Target == ironic.PowerSoftRebooting) {
		p.o.SoftRefused = true
		return policy.Wait{}, true, nil
	}
	if a, ok := action.(policy.Transition); ok && a.Target == ironic.TargetAbort && p.o.Node.ProvisionState == ironic.StateDeployWait && !p.o.AbortRefused {
		p.o.AbortRefused = true
		return policy.Wait{}, true, nil
	}
	d := policy.Rejected(&p.o, action, textOf(err))
	if policy.Detaching(&p.o) {
		p.failedNow = true
		p.log.Info("failed", "errorType", metal3.DetachError, "attempt", policy.FailedDetaches(p.o.Host)+1, "reason", textOf(err))
	}
	return d.Wait, false, p.accept(ctx, d)
}

// textOf is the part of an error that a user needs.
func textOf(err error) string {
	if e, ok := errors.AsType[*ironic.Error](err); ok && e.Text != "" {
		return e.Text
	}
	return err.Error()
}

// phaseUnsaved reports whether the phase that the next call belongs to is not
// stored yet. After a crash the stored phase must explain what Ironic does.
func (p *pass) phaseUnsaved() bool {
	stored, present := p.saver.Before().Status, p.o.Host.Status
	return stored.Provisioning.State != present.Provisioning.State || !nodespec.SameRAID(stored.Provisioning.RAID, present.Provisioning.RAID) ||
		(stored.OperationalStatus == metal3.OperationalStatusServicing) != (present.OperationalStatus == metal3.OperationalStatusServicing)
}

// save computes the conditions and writes the status, if it differs. Events that
// belong to it follow.
func (p *pass) save(ctx context.Context, note view.Note) error {
	h := p.o.Host
	p.acknowledgeRetry()
	policy.Summarise(h, policy.Findings{
		Now: p.o.Now, Told: p.o.Applied != nil, Node: p.o.Node, Note: note, Down: p.down, Cause: p.cause,
	})
	if p.saver.Changed(h) && !p.putOff() {
		now := metav1.NewTime(p.o.Now).Rfc3339Copy()
		h.Status.LastUpdated = &now
		if _, err := p.saver.Status(ctx, h); err != nil {
			return err
		}
	}
	p.cause = "" // recorded
	p.tell()
	return nil
}

// tell publishes the events so far.
func (p *pass) tell() {
	h := p.o.Host
	if h.Spec.ConsumerRef != nil {
		p.recorder.Record(h, h.Spec.ConsumerRef, p.events...)
	} else {
		p.recorder.Record(h, nil, p.events...)
	}
	p.events = nil
}

// cacheDelay lets the cache see what was written last before a worker waits for that.
const cacheDelay = 200 * time.Millisecond

// part ends a pass of a host that is over, or whose node is.
func (p *pass) part(key client.ObjectKey) ctrl.Result {
	p.tell()
	id := p.o.Host.Status.Provisioning.ID
	if id != "" {
		p.watch.Expect(id, false)
	}
	if p.gone {
		p.memories.put(key, memory{Released: p.o.Host.UID}, true)
		return ctrl.Result{}
	}
	p.memories.put(key, memory{NodeID: id, Removed: true}, true)
	return ctrl.Result{RequeueAfter: cacheDelay, Priority: new(priorityOver)}
}

// vanished reports an error that says that the host does not exist any more.
func vanished(err error, key client.ObjectKey) bool {
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || status.Status().Reason != metav1.StatusReasonNotFound || status.Status().Details == nil {
		return false
	}
	d := status.Status().Details
	return d.Group == metal3.GroupVersion.Group && d.Kind == "baremetalhosts" && d.Name == key.Name
}

// finish saves, remembers, and says when to look again.
func (p *pass) finish(ctx context.Context, wait policy.Wait, err error) (ctrl.Result, error) {
	key := client.ObjectKeyFromObject(p.o.Host)
	p.settleSlot(key)
	if p.gone || p.nodeRemoved && err == nil {
		return p.part(key), nil
	}
	if err == nil || !reconcile.IsConflict(err) {
		if saveErr := p.save(ctx, wait.Note); saveErr != nil {
			err = errors.Join(err, client.IgnoreNotFound(saveErr))
		}
	}
	p.remember(ctx, key)
	if p.o.Node != nil {
		n := p.o.Node
		p.watch.Expect(n.UUID, (n.ProvisionState.Busy() || n.TargetPowerState != "") && !p.o.Overdue())
	}
	if p.asked {
		p.watch.Nudge()
	}
	if reconcile.IsConflict(err) {
		return reconcile.RetryConflict(), nil
	}
	if err != nil && vanished(err, key) {
		return ctrl.Result{}, nil // the news of that ends what is left
	}
	if err != nil {
		return reconcile.Resolve(err)
	}
	if p.later && (wait.After == 0 || wait.After > noteLater) {
		wait.After = noteLater
	}
	return ctrl.Result{RequeueAfter: wait.After}, nil
}
