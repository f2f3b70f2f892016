package host

import (
	"context"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/execute"
	"github.com/ironflow/ironflow/controllers/host/memory"
	"github.com/ironflow/ironflow/controllers/host/metrics"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// maxDecisions bounds a pass. The longest known chain, from nothing to a node
// that is being verified, takes twelve; reaching the bound means a cycle.
const maxDecisions = 40

// pass is one run through a host: what is known and done, and what was come to.
type pass struct {
	*Reconciler
	execute.Work

	lost  memory.Silence // of the agent, as the pass began
	told  uint64         // how often the BMC had told of the power then
	cause string         // of an error that was recorded in this pass
	down  string         // why Ironic cannot be asked
	// nodeRemoved means that the host's node is gone and the host is yet to be released.
	nodeRemoved bool
	failedNow   bool // an error was recorded
	locked      bool // a call was turned away by somebody who holds the node
}

// run alternates decisions and actions until the host has to wait.
func (p *pass) run(ctx context.Context) (policy.Wait, error) {
	for range maxDecisions {
		p.Known.Now = p.options.Now()
		d := policy.Decide(&p.Known)
		wait, more, err := p.carryOut(ctx, d)
		if err != nil || !more {
			return wait, err
		}
	}
	return policy.Wait{}, fmt.Errorf("host %s came to no rest in phase %q", client.ObjectKeyFromObject(p.Known.Host), p.Known.State())
}

// carryOut does what was decided; more is false when the pass is over.
func (p *pass) carryOut(ctx context.Context, d *policy.Decision) (wait policy.Wait, more bool, err error) {
	if d.Do == nil {
		err := p.accept(ctx, d)
		return d.Wait, d.Again && !d.NewlyFailing(), err
	}
	if policy.Announced(d.Do, p.Saver.Before().Status.Provisioning.State) && p.unsaved(d.Do) {
		if err := p.save(ctx, p.noteAfter(d)); err != nil {
			return policy.Wait{}, false, err
		}
		d.SavedBefore(&p.Known.Host.Status)
	}
	if err := p.Do(ctx, d.Do); err != nil {
		return p.refused(ctx, d, err)
	}
	p.metrics.Add(policy.Count{Metric: metrics.Actions, Labels: []string{d.Do.Name(), "accepted"}})
	if policy.ToIronicWrite(d.Do) {
		p.Log.V(1).Info("done", "action", d.Do.Name())
	}
	if err := p.accept(ctx, d); err != nil || p.Gone {
		return policy.Wait{}, false, err
	}
	if _, removed := d.Do.(nodeaction.Remove); removed && p.Known.Deleting() {
		p.nodeRemoved = true
		return policy.Wait{}, false, nil
	}
	if t, ok := d.Do.(nodeaction.Transition); ok && t.Target == ironic.TargetAbort {
		return policy.Wait{Note: view.Note{Step: "ending what Ironic does"}, After: policy.WaitAborted}, false, nil
	}
	return d.Wait, !d.NewlyFailing(), nil
}

// noteAfter is what will be said once the action of a decision is accepted, so
// that saving the intent and the result takes one patch.
func (p *pass) noteAfter(d *policy.Decision) view.Note {
	t, ok := d.Do.(nodeaction.Transition)
	if !ok {
		return view.Note{Step: d.Do.Name()}
	}
	next := p.Known
	next.Sight = p.Known.Copy()
	if n, known := next.InFull(); known {
		execute.ExpectTransition(n.Node(), t.Target)
	}
	return policy.Decide(&next).Wait.Note
}

// accept makes a decision's status the host's.
func (p *pass) accept(ctx context.Context, d *policy.Decision) error {
	h := p.Known.Host
	for _, name := range d.ReleaseSecrets { // while the status still names them
		if err := p.Store.LeaveSecret(ctx, h, name); err != nil {
			return err
		}
	}
	if from, to := p.Known.State(), d.Status.Provisioning.State; from != to {
		if err := p.recordRegistering(ctx, from, d); err != nil {
			return err
		}
		p.Log.Info("phase", "from", from, "to", to)
		p.metrics.Left(h, from, p.Known.Now)
	}
	if d.NewlyFailing() {
		p.cause, p.failedNow = d.Cause, true
		p.Log.Info("failed", "errorType", d.Status.ErrorType, "attempt", d.Status.ErrorCount, "reason", d.Status.ErrorMessage)
	} else if d.Status.ErrorType == "" {
		p.cause = ""
	}
	if d.Other != "" {
		p.Log.Info("the host's machine is another host's", "otherHost", d.Other)
	}
	h.Status = d.Status
	p.Events = append(p.Events, d.Events...)
	p.metrics.AddFor(client.ObjectKeyFromObject(h), d.Counts...)
	if len(d.DropAnnotations) == 0 {
		return nil
	}
	// What the annotation asked for is in the status, or in Ironic, before it goes.
	if err := p.save(ctx, d.Wait.Note); err != nil {
		return err
	}
	return p.Saver.Metadata(ctx, h, func(h *metal3.BareMetalHost) {
		for _, key := range d.DropAnnotations {
			delete(h.Annotations, key)
		}
	})
}

// recordRegistering stores that a host was being registered before it goes on, where
// that is not stored yet: whoever watches a host enter the fleet waits for it, and the
// program may have been killed after Ironic was asked and before that was written.
func (p *pass) recordRegistering(ctx context.Context, from policy.State, d *policy.Decision) error {
	if from != metal3.StateRegistering || p.Saver.Before().Status.Provisioning.State == from {
		return nil
	}
	if err := p.save(ctx, view.Note{Step: "registered"}); err != nil {
		return err
	}
	d.Status.Conditions, d.Status.LastUpdated = p.Known.Host.Status.Conditions, p.Known.Host.Status.LastUpdated
	return nil
}
