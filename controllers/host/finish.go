package host

import (
	"context"
	"errors"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/schedule"
	"github.com/ironflow/ironflow/controllers/host/trigger"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// unsaved reports whether the phase that the next call belongs to, or when it began, is not
// stored yet. After a crash the stored status must explain
// what Ironic does, and has; that there was a node, and that its machine may be in use, is to be known once it is gone.
func (p *pass) unsaved(next policy.Action) bool {
	stored, present := p.Saver.Before().Status, p.Known.Host.Status
	_, removes := next.(nodeaction.Remove)
	return removes && (nodespec.InDoubt(&stored) != nodespec.InDoubt(&present) || stored.Provisioning.ID != present.Provisioning.ID) ||
		stored.Provisioning.State != present.Provisioning.State || nodespec.Begun(p.Saver.Before()) != nodespec.Begun(p.Known.Host) || !nodespec.SameRAID(stored.Provisioning.RAID, present.Provisioning.RAID) ||
		(stored.OperationalStatus == metal3.OperationalStatusServicing) != (present.OperationalStatus == metal3.OperationalStatusServicing)
}

// save computes the conditions and writes the status, if it differs. Events that
// belong to it follow.
func (p *pass) save(ctx context.Context, note view.Note) error {
	h := p.Known.Host
	p.acknowledgeRetry()
	if err := p.recordTriggers(ctx); err != nil {
		return err
	}
	policy.Summarise(h, policy.Findings{
		Now: p.Known.Now, Told: p.Known.ToldOfSpec(), Sight: p.Known.Sight, Note: note, Down: p.down, Cause: p.cause,
	})
	if p.Saver.Changed(h) {
		now := metav1.NewTime(p.Known.Now).Rfc3339Copy()
		h.Status.LastUpdated = &now
		if _, err := p.Saver.Status(ctx, h); err != nil {
			return err
		}
	}
	p.cause = "" // recorded
	p.tell()
	return nil
}

// tell publishes the events so far.
func (p *pass) tell() {
	h := p.Known.Host
	if h.Spec.ConsumerRef != nil {
		p.recorder.Record(h, h.Spec.ConsumerRef, p.Events...)
	} else {
		p.recorder.Record(h, nil, p.Events...)
	}
	p.Events = nil
}

// releaseDelay is how soon a host is let go of whose node is gone. That takes a pass of
// its own, which the start limiter counts: nobody waits for it.
const releaseDelay = 200 * time.Millisecond

// part ends a pass of a host that is over, or whose node is.
func (p *pass) part(key client.ObjectKey) ctrl.Result {
	p.tell()
	id := p.Known.Host.Status.Provisioning.ID
	if id != "" {
		p.Watch.Expect(id, false)
	}
	if p.Gone {
		p.memories.Put(key, memory.Memory{Released: p.Known.Host.UID}, true)
		return ctrl.Result{}
	}
	p.memories.Put(key, memory.Memory{NodeID: id, Removed: true}, true)
	return ctrl.Result{RequeueAfter: releaseDelay}
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
	key := client.ObjectKeyFromObject(p.Known.Host)
	if !p.locked && p.ending(err) == schedule.Complete {
		p.Known.Busy = policy.Holder{} // it asks for nothing that somebody could be in the way of
	}
	if p.Gone {
		p.schedule.Slots.Queue.Leave(key)
	} else {
		p.schedule.Slots.Settle(&p.Known, p.ending(err))
	}
	if p.Gone || p.nodeRemoved && err == nil {
		return p.part(key), nil
	}
	if err == nil || !reconcile.IsConflict(err) {
		if saveErr := p.save(ctx, wait.Note); saveErr != nil {
			err = errors.Join(err, client.IgnoreNotFound(saveErr))
		}
	}
	p.remember(key)
	if p.Known.Node != nil {
		n := p.Known.Node
		p.Watch.Expect(n.UUID, (n.ProvisionState.Busy() || n.TargetPowerState != "") && !p.Known.Overdue())
	}
	if p.Asked || p.Known.LookingAtPower() {
		p.Watch.Nudge()
	}
	if reconcile.IsConflict(err) {
		return p.conflict(p.Known.Host), nil
	}
	if err != nil && vanished(err, key) {
		return ctrl.Result{}, nil // the news of that ends what is left
	}
	if err != nil {
		return reconcile.Resolve(err)
	}
	return ctrl.Result{RequeueAfter: wait.After}, nil
}

// ending says for the slots how the pass ended.
func (p *pass) ending(err error) schedule.Ending {
	switch {
	case p.down != "" || reconcile.IsConflict(err):
		return schedule.Unanswered
	case err != nil:
		return schedule.CutShort
	default:
		return schedule.Complete
	}
}

// remember keeps what the next pass is spared by.
func (p *pass) remember(key client.ObjectKey) {
	o := &p.Known
	before := p.memories.Get(key)
	m := memory.Memory{
		Kept: o.Keep(p.failedNow, p.Saver.Before().Status.Provisioning.State), NodeID: o.Host.Status.Provisioning.ID, Node: memory.Cached(o.State(), o.Sight),
		Removed: o.Missing && before.Removed, Answered: p.told,
	}
	if o.PowerTold && o.Steady() && o.Node != nil && o.Node.TargetPowerState == "" {
		m.Answered = before.Answered // Ironic is not at work on the machine, so that it may not know
	}
	handled := before.LostAgent == p.lost && !o.LostAgent
	p.memories.Put(key, m, handled)
}

// recordTriggers stores what an error was recorded with, together with the error. One that
// somebody else has recorded, or that came with the host from another cluster, is taken as it is found, once nothing asks for an attempt.
// A request that was taken away since is forgotten, so that it counts when it is made again.
func (p *pass) recordTriggers(ctx context.Context) error {
	h := p.Known.Host
	record, known := trigger.RecordOf(h)
	known = known && !record.Moved(h)
	switch {
	case !policy.Failed(h):
		reconcile.DropCondition(h, trigger.Condition)
	case p.failedNow, !known && !p.Known.Retry && reconcile.KeptOff(h) == "":
		record, err := p.observer.Triggers(ctx, &p.Known)
		if err != nil {
			return err
		}
		record.Store(h)
	case known && record.Forget(trigger.Facts{Host: h, Detaching: policy.FailedDetaches(h) > 0}):
		record.Store(h)
	}
	return nil
}

// acknowledgeRetry notes the present value of the annotation in the status: once
// the attempt has begun that it asked for, and when an error is recorded, which a
// value from before cannot have been meant for.
func (p *pass) acknowledgeRetry() {
	h := p.Known.Host
	value, asked := h.Annotations[names.Retry]
	switch {
	case !asked:
		reconcile.DropCondition(h, policy.RetryCondition)
	case p.failedNow, p.Known.Retry && !p.Known.Failing():
		reconcile.SetCondition(h, policy.RetryCondition, metav1.ConditionTrue, policy.ReasonRetryHandled, policy.RetryMessage(value))
	}
}
