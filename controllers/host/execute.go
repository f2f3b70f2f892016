package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// execute performs one action and adds its result to what is observed. Each
// action is idempotent: done twice, or done by a process that died before it
// could say so, it comes to the same.
func (p *pass) execute(ctx context.Context, action policy.Action) error {
	if policy.ToIronic(action) {
		if err := p.gateway.Ready(ctx); err != nil {
			return err
		}
		return p.onIronic(ctx, action)
	}
	return p.onKubernetes(ctx, action)
}

// onIronic makes the call that an action stands for.
func (p *pass) onIronic(ctx context.Context, action policy.Action) error {
	o, g := &p.o, p.gateway
	switch a := action.(type) {
	case policy.LookUp:
		return p.lookUp(ctx)
	case policy.FindOwner:
		return p.findOwner(ctx)
	case policy.Refresh:
		n, err := g.Get(ctx, o.Node.UUID)
		return p.see(n, err)
	case policy.Enrol:
		return p.enrol(ctx, a)
	case policy.Update:
		n, _, err := g.Update(ctx, o.Node, a.Desired)
		if err == nil {
			o.Applied = &a.Desired
		}
		return p.see(n, err)
	case policy.EnsurePorts:
		err := p.ensurePorts(ctx, a)
		if _, conflict := errors.AsType[*ironic.MACConflictError](err); conflict && o.Deleting() {
			err = nil // an address of another's is none of this host's, and no obstacle to its end
		}
		if err == nil {
			o.Ports = nodespec.PortsKey(o.Node.UUID, a.Ports)
		}
		return err
	case policy.ReadInventory:
		return p.readInventory(ctx)
	case policy.MakeFirmware, policy.ReadSettings, policy.ReadComponents:
		return p.readFirmware(ctx, action)
	case policy.ReadFailure:
		text, err := g.FailureReason(ctx, o.Node.UUID, a.Since)
		if err == nil {
			o.Failure = &text
		}
		return err
	case policy.Validate:
		unfit, err := g.Validate(ctx, o.Node.UUID)
		if err == nil {
			o.Unfit = &unfit
		}
		return err
	case policy.SetRAID:
		err := g.SetRAID(ctx, o.Node.UUID, a.Disks)
		if err == nil {
			o.Node.TargetRAIDConfig = ironic.RAIDTarget(a.Disks)
		}
		return err
	case policy.Transition, policy.Power, policy.Maintenance, policy.Remove:
		return p.change(ctx, action)
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// change makes the calls that change what the node does. What Ironic took, the
// node is expected to show: the next decision then waits for it.
func (p *pass) change(ctx context.Context, action policy.Action) error {
	o, g, id := &p.o, p.gateway, p.o.Node.UUID
	switch a := action.(type) {
	case policy.Transition:
		if err := g.Transition(ctx, id, a.Transition); err != nil {
			return err
		}
		o.LostAgent = false // whatever the node did before, it does something else now
		expectTransition(o.Node, a.Target)
		if !o.Node.ProvisionState.Busy() {
			o.Detail = policy.Summary // it is there already, at a time that is not known yet
		}
		if a.Target == ironic.TargetInspect {
			o.Inventory, o.NoInventory = nil, false
		}
	case policy.Power:
		if err := g.SetPower(ctx, id, a.PowerRequest); err != nil {
			return err
		}
		if p.options.Media != nil && a.Target != ironic.PowerOff && a.Target != ironic.PowerSoftOff {
			p.options.Media.Started(client.ObjectKeyFromObject(o.Host))
		}
		o.Node.TargetPowerState, o.Node.LastError = a.Target, ""
		o.PowerAsked, o.LostAgent = a.Target, false
		if a.Target == ironic.PowerRebooting {
			o.Rebooted = o.Now
		}
	case policy.Maintenance:
		if err := g.SetMaintenance(ctx, id, a.On, a.Reason); err != nil {
			return err
		}
		o.Node.Maintenance, o.Node.MaintenanceReason, o.Node.Fault = a.On, a.Reason, ""
		return nil
	case policy.Remove:
		if err := g.Delete(ctx, id); err != nil {
			return err
		}
		p.watch.Forget(id)
		p.lose(policy.Missing)
		return nil
	}
	p.asked = true
	p.watch.Learn(o.Node.Row())
	return nil
}

// enrol creates the node with all that is known.
func (p *pass) enrol(ctx context.Context, a policy.Enrol) error {
	n, created, err := p.gateway.Create(ctx, a.Enrolment)
	if err := p.see(n, err); err != nil {
		return err
	}
	p.o.Fresh, p.o.NoInventory = created, created
	return nil
}

// ensurePorts creates the missing ports, with a look first if they are not known.
func (p *pass) ensurePorts(ctx context.Context, a policy.EnsurePorts) error {
	if len(a.Gone) > 0 {
		if err := p.gateway.RemovePorts(ctx, p.o.Node.UUID, a.Gone); err != nil {
			return err
		}
	}
	if a.Missing != nil {
		return p.gateway.AddPorts(ctx, p.o.Node.UUID, a.Missing)
	}
	return p.gateway.EnsurePorts(ctx, p.o.Node.UUID, a.Ports)
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

// expectTransition writes the expected state into the snapshot.
func expectTransition(n *ironic.Node, target ironic.Target) {
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

// lookUp finds the node. That there is none is a result, not an error. The watch
// knows all names, so a new host costs one look, for its MAC address.
func (p *pass) lookUp(ctx context.Context) error {
	h := p.o.Host
	id := ironic.Identity{UUID: h.Status.Provisioning.ID, Name: nodespec.NodeName(h), BootMAC: h.Spec.BootMACAddress, Other: p.o.Owner.Other}
	id.Unknown = id.UUID == "" && p.unknown(id.Name) && p.unknown(ironic.PlainName(id.Name))
	n, err := p.gateway.Find(ctx, id)
	if errors.Is(err, ironic.ErrNotFound) {
		p.lose(policy.Missing)
		return nil
	}
	if p.foreignAddress(err) {
		return nil
	}
	return p.see(n, err)
}

// unknown reports whether no node has a name, as far as the watch knows all.
func (p *pass) unknown(name string) bool {
	_, found, complete := p.watch.Named(name)
	return complete && !found
}

// see takes a complete node.
func (p *pass) see(n *ironic.Node, err error) error {
	if err != nil {
		return err
	}
	o := &p.o
	p.watch.Learn(n.Row())
	if o.Node == nil || o.Node.UUID != n.UUID {
		o.Fresh = false
		o.Applied, o.Inventory, o.NoInventory, o.Failure, o.Unfit = nil, nil, false, nil, nil
	}
	o.Node, o.Detail, o.Looked = n, policy.Full, o.Now
	return nil
}

// lose drops everything that was known of a node.
func (p *pass) lose(s policy.Detail) {
	o := &p.o
	o.Node, o.Detail, o.Ports, o.PowerAsked, o.Fresh = nil, s, "", "", false
	o.Applied, o.Inventory, o.NoInventory, o.Failure, o.Unfit = nil, nil, false, nil, nil
}

func (p *pass) readInventory(ctx context.Context) error {
	inventory, err := p.gateway.Inventory(ctx, p.o.Node.UUID)
	if errors.Is(err, ironic.ErrNoInventory) || ironic.KindOf(err) == ironic.Gone {
		p.o.NoInventory = true // a node that is gone is noticed by the next call
		return nil
	}
	if err == nil && !nodespec.BootsAsSeen(p.o.Host, inventory) {
		p.o.Ports, p.o.Fresh = "", false // they are not as we have made them
	}
	p.o.Inventory = inventory
	return err
}

// onKubernetes performs an action on the API server.
func (p *pass) onKubernetes(ctx context.Context, action policy.Action) error {
	o, h := &p.o, p.o.Host
	switch a := action.(type) {
	case policy.Claim:
		return p.claim(ctx, a)
	case policy.TakeSlot:
		p.takeSlot()
		return nil
	case policy.AskImage:
		image, err := p.objects.askImage(ctx, h, a.Spec)
		if err != nil {
			return err
		}
		o.Image, err = p.judgeImage(ctx, o, image)
		o.Image.Asked = true
		return err
	case policy.LabelImage:
		o.Image.Unlike = false
		return p.objects.labelImage(ctx, h)
	case policy.SaveHardware:
		if err := p.objects.saveHardware(ctx, h, a.Details); err != nil {
			return err
		}
		o.Hardware = a.Details
		return nil
	case policy.ReadConfigDrive:
		drive, err := p.secrets.configDrive(ctx, h)
		o.ConfigDrive = drive
		return err
	case policy.ReadPullSecret:
		secret, err := p.secrets.pullSecret(ctx, h)
		o.PullSecret = secret
		return err
	case policy.Restore:
		return p.restore(ctx, a)
	case policy.Release:
		return p.release(ctx)
	case policy.Announce:
		return p.announce(ctx, a)
	case policy.SettleMedia:
		p.options.Media.Ask(client.ObjectKeyFromObject(h), a.Restart)
		o.Media.Asked = true
		return nil
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// claim puts finalizer and assignment on the host, in one write.
func (p *pass) claim(ctx context.Context, a policy.Claim) error {
	err := p.saver.Metadata(ctx, p.o.Host, func(h *metal3.BareMetalHost) {
		controllerutil.AddFinalizer(h, names.HostFinalizer)
		if p.o.Ironic.Unwritten {
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Ironic, a.Ironic)
		}
	})
	if err != nil {
		return err
	}
	p.o.Ironic.Unwritten = false
	p.echoes.expectHost(client.ObjectKeyFromObject(p.o.Host), p.o.Host.ResourceVersion)
	return nil
}
