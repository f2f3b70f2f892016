package execute

import (
	"context"
	"errors"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/controllers/host/resources"
	"github.com/ironflow/ironflow/ironic"
)

// lookUp finds the node. That there is none is a result, not an error. The watch
// knows all names, so a new host costs one look, for its MAC address.
func (w *Work) lookUp(ctx context.Context) error {
	h := w.Known.Host
	id := ironic.Identity{UUID: h.Status.Provisioning.ID, Name: nodespec.NodeName(h), BootMAC: h.Spec.BootMACAddress, Other: w.Known.Owner.Other}
	id.Unknown = id.UUID == "" && w.unknown(id.Name) && w.unknown(ironic.PlainName(id.Name))
	n, err := w.Gateway.Find(ctx, id)
	if errors.Is(err, ironic.ErrNotFound) {
		w.Lose(nodeaction.Missing())
		return nil
	}
	if w.foreignAddress(err) {
		return nil
	}
	return w.see(n, err)
}

// unknown reports whether no node has a name, as far as the watch knows all.
func (w *Work) unknown(name string) bool {
	_, found, complete := w.Watch.Named(name)
	return complete && !found
}

// see takes a complete node.
func (w *Work) see(n *ironic.Node, err error) error {
	if err != nil {
		return err
	}
	o := &w.Known
	w.Watch.Learn(n.Row)
	if o.Node == nil || o.Node.UUID != n.UUID {
		o.Fresh = false
		o.Applied, o.Inventory, o.NoInventory, o.Failure, o.Unfit = nil, nil, false, nil, nil
	}
	o.Sight, o.Looked = nodeaction.JustRead(n), o.Now
	return nil
}

// Lose drops everything that was known of a node. What is left to see is s.
func (w *Work) Lose(s nodeaction.Sight) {
	o := &w.Known
	o.Sight, o.Ports, o.PowerAsked, o.Fresh = s, "", "", false
	o.Applied, o.Inventory, o.NoInventory, o.Failure, o.Unfit = nil, nil, false, nil, nil
}

func (w *Work) readInventory(ctx context.Context) error {
	inventory, err := w.Gateway.Inventory(ctx, w.Known.Node.UUID)
	if errors.Is(err, ironic.ErrNoInventory) || ironic.KindOf(err) == ironic.Gone {
		w.Known.NoInventory = true // a node that is gone is noticed by the next call
		return nil
	}
	if err == nil && !nodespec.BootsAsSeen(w.Known.Host, inventory) {
		w.Known.Ports, w.Known.Fresh = "", false // they are not as we have made them
	}
	w.Known.Inventory = inventory
	if err == nil {
		err = policy.JudgeInventory(&w.Known, resources.Booting(ctx, w.Store.Cache, w.Known.Host))
	}
	return err
}
