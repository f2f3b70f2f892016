package model

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ironflow/ironflow/ironic"
)

// NodeOfPort implements ironics.Ports.
func (g gateway) NodeOfPort(_ context.Context, mac string) (string, bool, error) {
	if err := g.run.look("find port"); err != nil {
		return "", false, err
	}
	id, found := g.world().ports[strings.ToLower(mac)]
	return id, found, nil
}

// EnsurePorts implements ironics.Ports.
func (g gateway) EnsurePorts(ctx context.Context, id string, ports []ironic.Port) ([]ironic.PortLeftOut, error) {
	return g.AddPorts(ctx, id, ports)
}

// AddPorts implements ironics.Ports.
func (g gateway) AddPorts(_ context.Context, id string, ports []ironic.Port) (left []ironic.PortLeftOut, err error) {
	w := g.world()
	for _, p := range ports {
		mac := strings.ToLower(p.MAC)
		switch owner, found := w.ports[mac]; {
		case found && owner == id:
		case found && p.Optional:
			left = append(left, ironic.PortLeftOut{MAC: mac, Owner: owner, Reason: "node " + w.nodes[owner].Name + " has it"})
		case found:
			return left, &ironic.MACConflictError{MAC: mac, OtherNode: w.nodes[owner].Name, OtherID: owner}
		default:
			if err := g.write("create port "+mac, id, func(w *World) error { w.ports[mac] = id; return nil }); err != nil {
				return left, err
			}
		}
	}
	return left, nil
}

// RemovePorts implements ironics.Ports.
func (g gateway) RemovePorts(_ context.Context, id string, macs []string) error {
	return g.write("remove ports", id, func(w *World) error {
		for _, mac := range macs {
			if w.ports[strings.ToLower(mac)] == id {
				delete(w.ports, strings.ToLower(mac))
			}
		}
		return nil
	})
}

// SetMaintenance implements ironics.Actions.
func (g gateway) SetMaintenance(_ context.Context, id string, on bool, reason string) error {
	return g.write(fmt.Sprintf("maintenance %t", on), id, func(w *World) error {
		if n := w.nodes[id]; n.MaintenanceReason == byHand {
			w.breaks("TAKEN FROM A PERSON: the controller takes node %s out of maintenance, which somebody has it in", n.Name)
		}
		w.change(id, func(n *node) {
			if n.Maintenance, n.MaintenanceReason = on, reason; !on {
				n.Fault = ""
			}
		})
		return nil
	})
}

// Validate implements ironics.Actions.
func (gateway) Validate(context.Context, string) ([]ironic.ValidationFailure, error) { return nil, nil }

// SetRAID implements ironics.Volumes.
func (g gateway) SetRAID(_ context.Context, id string, disks []ironic.LogicalDisk) error {
	return g.write("set RAID target", id, func(w *World) error {
		w.change(id, func(n *node) { n.TargetRAIDConfig = ironic.RAIDTarget(disks) })
		return nil
	})
}

// Inventory implements ironics.Facts.
func (g gateway) Inventory(_ context.Context, id string) (*ironic.Inventory, error) {
	if err := g.run.look("read inventory"); err != nil {
		return nil, err
	}
	switch n, found := g.world().nodes[id]; {
	case !found:
		return nil, failed(ironic.Gone, "read inventory", "node not found")
	case !n.inspect:
		return nil, ironic.ErrNoInventory
	}
	return &ironic.Inventory{}, nil
}

// FailureReason implements ironics.Facts.
func (g gateway) FailureReason(_ context.Context, id string, _ time.Time) (string, error) {
	if err := g.run.look("read history"); err != nil {
		return "", err
	}
	if n, found := g.world().nodes[id]; found {
		return n.LastError, nil
	}
	return "", failed(ironic.Gone, "read history", "node not found")
}
