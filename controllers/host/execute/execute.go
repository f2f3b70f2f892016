package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// Do performs one action and adds its result to what is known. Each action is
// idempotent: done twice, or done by a process that died before it could say so, it
// comes to the same.
func (w *Work) Do(ctx context.Context, action policy.Action) error {
	if policy.ToIronic(action) {
		if err := w.Gateway.Ready(ctx); err != nil {
			return err
		}
		return w.onIronic(ctx, action)
	}
	return w.onKubernetes(ctx, action)
}

// onIronic makes the call that an action stands for.
func (w *Work) onIronic(ctx context.Context, action policy.Action) error {
	o, g := &w.Known, w.Gateway
	if a, on := action.(nodeaction.OnNode); on && a.Node() == nil {
		return fmt.Errorf("action %q was made from no node", action.Name())
	}
	switch a := action.(type) {
	case policy.LookUp:
		return w.lookUp(ctx)
	case policy.LookAtBMC:
		return w.lookAtBMC(ctx, a)
	case nodeaction.FindOwner:
		return w.findOwner(ctx, a)
	case policy.Refresh:
		n, err := g.Get(ctx, o.Node.UUID)
		return w.see(n, err)
	case policy.Enrol:
		return w.enrol(ctx, a)
	case nodeaction.Update:
		n, _, err := g.Update(ctx, a.Node(), a.Desired)
		if err == nil {
			o.Applied = &a.Desired
		}
		if _, writes := a.Desired.Extra[plan.KeyOrder]; writes && err == nil {
			o.Unasked = orderTime(n)
		}
		return w.see(n, err)
	case nodeaction.EnsurePorts:
		err := w.ensurePorts(ctx, a)
		if _, conflict := errors.AsType[*ironic.MACConflictError](err); conflict && o.Deleting() {
			err = nil // an address of another's is none of this host's, and no obstacle to its end
		}
		if err == nil {
			o.Ports = nodespec.PortsKey(a.Node().UUID, a.Ports)
		}
		return err
	case nodeaction.ReadInventory:
		return w.readInventory(ctx)
	case nodeaction.MakeFirmware, nodeaction.ReadSettings, nodeaction.ReadComponents:
		return w.readFirmware(ctx, action)
	case nodeaction.ReadFailure:
		text, err := g.FailureReason(ctx, a.Node().UUID, a.Since)
		if err == nil {
			o.Failure = &text
		}
		return err
	case nodeaction.Validate:
		unfit, err := g.Validate(ctx, a.Node().UUID)
		if err == nil {
			o.Unfit = &unfit
		}
		return err
	case nodeaction.SetRAID:
		err := g.SetRAID(ctx, a.Node().UUID, a.Disks)
		if err == nil {
			a.Node().TargetRAIDConfig = ironic.RAIDTarget(a.Disks)
		}
		return err
	case nodeaction.LookAtPower:
		err := g.SetPower(ctx, a.Node().UUID, ironic.PowerRequest{Target: a.Wanted})
		if err == nil {
			o.PowerTold, o.PowerLooked, w.Asked = false, o.Now, true
		}
		return err
	case nodeaction.Transition, nodeaction.Power, nodeaction.Maintenance, nodeaction.Remove:
		return w.change(ctx, action)
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// change makes the calls that change what the node does. What Ironic took, the
// node is expected to show: the next decision then waits for it.
func (w *Work) change(ctx context.Context, action policy.Action) error {
	o, g := &w.Known, w.Gateway
	switch a := action.(type) {
	case nodeaction.Transition:
		if a.Target == ironic.TargetInspect {
			o.Inventory, o.NoInventory = nil, false // also where Ironic takes it, and the answer is lost
		}
		o.Verifying = time.Time{} // of another verification
		err := g.Transition(ctx, a.Node().UUID, a.Transition)
		if kind := ironic.KindOf(err); err == nil || kind != ironic.Busy && kind != ironic.Rejected {
			o.Unasked = time.Time{} // taken, or nobody knows
		}
		if err != nil {
			return err
		}
		o.LostAgent = false // whatever the node did before, it does something else now
		ExpectTransition(a.Node(), a.Target)
		if !o.Node.ProvisionState.Busy() {
			o.Sight = o.Summary() // it is there already, at a time that is not known yet
		}
	case nodeaction.Power:
		if err := g.SetPower(ctx, a.Node().UUID, a.PowerRequest); err != nil {
			return err
		}
		if w.Media != nil && a.Target != ironic.PowerOff && a.Target != ironic.PowerSoftOff {
			w.Media.Started(client.ObjectKeyFromObject(o.Host))
		}
		o.Node.TargetPowerState, o.Node.LastError = a.Target, ""
		o.PowerAsked, o.LostAgent = a.Target, false
	case nodeaction.Maintenance:
		if err := g.SetMaintenance(ctx, a.Node().UUID, a.On, a.Reason); err != nil {
			return err
		}
		n := a.Node()
		n.Maintenance, n.MaintenanceReason, n.Fault = a.On, a.Reason, ""
		return nil
	case nodeaction.Remove:
		if err := g.Delete(ctx, a.Node().UUID); err != nil {
			return err
		}
		w.Watch.Forget(a.Node().UUID)
		w.Lose(nodeaction.Missing())
		return nil
	}
	w.Asked = true
	w.Watch.Learn(*o.Node)
	return nil
}

// orderTime is of when the order on a node is; zero for none.
func orderTime(n *ironic.Node) time.Time {
	if order := plan.OrderOf(n); order != nil {
		return order.Since
	}
	return time.Time{}
}

// enrol creates the node with all that is known.
func (w *Work) enrol(ctx context.Context, a policy.Enrol) error {
	n, created, err := w.Gateway.Create(ctx, a.Enrolment)
	if err := w.see(n, err); err != nil {
		return err
	}
	w.Known.Fresh, w.Known.NoInventory = created, created
	if !created && n.Name != a.Enrolment.Name {
		w.Known.Owner.Enrolled = n.UUID // found by the id alone, and that is the host's
	}
	return nil
}

// transitionResult is the state that a node shows once Ironic took a request, by
// the state it was in; the empty state stands for any other.
var transitionResult = map[ironic.Target]map[ironic.ProvisionState]ironic.ProvisionState{
	ironic.TargetManage:  {ironic.StateEnroll: ironic.StateVerifying, "": ironic.StateManageable},
	ironic.TargetInspect: {"": ironic.StateInspecting},
	ironic.TargetClean:   {"": ironic.StateCleaning},
	ironic.TargetProvide: {"": ironic.StateCleaning},
	ironic.TargetActive:  {"": ironic.StateDeploying},
	ironic.TargetDeleted: {"": ironic.StateDeleting},
	ironic.TargetAdopt:   {"": ironic.StateAdopting},
	ironic.TargetService: {"": ironic.StateServicing},
}

// ExpectTransition writes into a node the state that it will show once Ironic took a request.
func ExpectTransition(n *ironic.Node, target ironic.Target) {
	results := transitionResult[target]
	next, found := results[n.ProvisionState]
	if !found {
		next, found = results[""]
	}
	if found {
		n.ProvisionState = next
	}
	n.LastError, n.DeployStep, n.CleanStep, n.ServiceStep = "", ironic.Step{}, ironic.Step{}, ironic.Step{}
}
