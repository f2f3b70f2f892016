package host

import (
	"context"
	"errors"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// busyShown is how long a node must have been locked before its holder is shown:
// short locks are everyday.
const busyShown = 30 * time.Second

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
		return p.busy(d.Do, err), false, p.turnedAway(ctx, d.Do)
	case kind == ironic.Gone:
		p.Lose(nodeaction.Sight{})
		return policy.Wait{}, true, nil
	case kind == ironic.Rejected:
		return p.rejected(ctx, d.Do, err)
	}
	p.down = textOf(err)
	p.metrics.Add(policy.Count{Metric: metrics.NotReady})
	return policy.Wait{Note: view.Note{Step: d.Do.Name()}, After: reconcile.DefaultUnavailable}, false, nil
}

// turnedAway writes down that a restart that was announced was not taken: it is to be
// asked for again, whatever happens to this process.
func (p *pass) turnedAway(ctx context.Context, action policy.Action) error {
	m := policy.MarkOf(p.Known.Host)
	if _, power := action.(nodeaction.Power); !power || m == nil || m.TurnedAway {
		return nil
	}
	m.TurnedAway = true
	return p.Do(ctx, policy.Announce{Mark: *m})
}

// busy waits for whoever holds the node. A lock that lasts is shown.
func (p *pass) busy(action policy.Action, err error) policy.Wait {
	p.locked = true
	if p.Known.Busy.Since.IsZero() {
		p.Known.Busy.Since = p.Known.Now
	}
	p.Known.Busy.Text = textOf(err)
	wait := policy.Wait{Note: view.Note{Step: action.Name()}, After: policy.WaitBusy}
	if p.Known.Now.Sub(p.Known.Busy.Since) >= busyShown {
		wait.Text = "Ironic turns it away: " + p.Known.Busy.Text
		wait.WaitingFor = "whoever holds the node in Ironic"
	}
	return wait
}

// rejected turns Ironic's refusal into the phase's error, but for soft power
// actions, which some drivers do not have, and the abort of a deployment, which
// older Ironics do not.
func (p *pass) rejected(ctx context.Context, action policy.Action, err error) (policy.Wait, bool, error) {
	if a, ok := action.(nodeaction.Power); ok && (a.Target == ironic.PowerSoftOff || a.Target == ironic.PowerSoftRebooting) {
		p.Known.SoftRefused = true
		return policy.Wait{}, true, nil
	}
	if a, ok := action.(nodeaction.Transition); ok && a.Target == ironic.TargetAbort && p.Known.Node.ProvisionState == ironic.StateDeployWait && !p.Known.AbortRefused {
		p.Known.AbortRefused = true
		return policy.Wait{}, true, nil
	}
	p.Known.Busy = policy.Holder{} // Ironic has answered
	d := policy.Rejected(&p.Known, action, textOf(err))
	if policy.Detaching(&p.Known) {
		p.failedNow = true
		p.Log.Info("failed", "errorType", metal3.DetachError, "attempt", policy.FailedDetaches(p.Known.Host)+1, "reason", textOf(err))
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
