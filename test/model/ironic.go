package model

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/ironic"
)

// node is a node of Ironic with what its API does not show.
type node struct {
	ironic.Node

	address  string // of the BMC
	password string
	silent   bool // the agent in the live image does not call
	wish     string
	inspect  bool // there is an inventory
}

// change replaces a node by a changed copy. Every change moves updated_at.
func (w *World) change(id string, edit func(*node)) *node {
	n := *w.nodes[id]
	before := n.Row()
	edit(&n)
	w.made++ // no two changes have one time
	n.UpdatedAt = w.stamp()
	if n.ProvisionState != before.ProvisionState {
		n.ProvisionUpdatedAt = n.UpdatedAt
	}
	w.nodes[id] = &n
	if !reflect.DeepEqual(before, n.Row()) {
		w.wakeForNode(before, n.Row())
	}
	return &n
}

// stamp is a time of Ironic's own clock, which no two changes share.
func (w *World) stamp() time.Time { return w.Now.Add(time.Duration(w.made) * time.Microsecond) }

// gateway makes the requests to the Ironic of a world.
type gateway struct{ run *run }

func (g gateway) world() *World { return g.run.world }

func failed(kind ironic.Kind, op, text string) error {
	return &ironic.Error{Kind: kind, Op: op, Text: text}
}

// write makes a request that changes something. It is answered as the world has it:
// taken, turned away, refused, or taken without an answer.
func (g gateway) write(op, id string, do func(w *World) error) error {
	w := g.world()
	answer := g.run.answer()
	n, found := w.nodes[id]
	switch {
	case answer == busy:
		g.run.note("Ironic turns %q away: the node is locked", op)
		return failed(ironic.Busy, op, "node is locked by host conductor")
	case answer == refused:
		g.run.note("Ironic refuses %q", op)
		return failed(ironic.Rejected, op, "refused by the model")
	case answer == down:
		g.run.note("Ironic does not answer %q", op)
		return failed(ironic.Unavailable, op, "connection refused")
	case id != "" && !found:
		return failed(ironic.Gone, op, "node not found")
	case found && n.Reservation != "":
		return failed(ironic.Busy, op, "node is locked by host "+n.Reservation)
	}
	g.run.beforeWrite()
	if err := do(w); err != nil {
		g.run.note("Ironic refuses %q: %v", op, err)
		return err
	}
	g.run.wrote("asks Ironic: %s", op)
	if answer == lost {
		g.run.note("the answer is lost")
		return failed(ironic.Unavailable, op, "connection reset by peer")
	}
	return nil
}

// Ready implements ironics.Facts.
func (gateway) Ready(context.Context) error { return nil }

// shown is a node as Ironic shows it.
func shown(n *node) *ironic.Node {
	c := n.Node
	c.DriverInfo, c.InstanceInfo = maps.Clone(n.DriverInfo), maps.Clone(n.InstanceInfo)
	c.Properties, c.Extra = maps.Clone(n.Properties), maps.Clone(n.Extra)
	return &c
}

// Get implements ironics.Nodes.
func (g gateway) Get(_ context.Context, ident string) (*ironic.Node, error) {
	for _, id := range sortedKeys(g.world().nodes) {
		if n := g.world().nodes[id]; n.UUID == ident || n.Name == ident && ident != "" {
			return shown(n), nil
		}
	}
	return nil, failed(ironic.Gone, "get node", "node "+ident+" could not be found")
}

// Find implements ironics.Nodes as ironic.Gateway does.
func (g gateway) Find(ctx context.Context, id ironic.Identity) (*ironic.Node, error) {
	for _, ident := range []string{id.UUID, id.Name, ironic.PlainName(id.Name)} {
		if ident == "" || id.Unknown {
			continue
		}
		if n, err := g.Get(ctx, ident); err == nil && (n.UUID != id.Other || ident == id.Name) {
			return n, nil
		}
	}
	owner, found := g.world().ports[strings.ToLower(id.BootMAC)]
	if !found || id.BootMAC == "" {
		return nil, ironic.ErrNotFound
	}
	n := shown(g.world().nodes[owner])
	if n.Name != "" && n.Name != id.Name {
		return nil, &ironic.MACConflictError{MAC: id.BootMAC, OtherNode: n.Name}
	}
	return n, nil
}

// Create implements ironics.Nodes.
func (g gateway) Create(ctx context.Context, e ironic.Enrolment) (*ironic.Node, bool, error) {
	if n, err := g.Get(ctx, e.Name); err == nil {
		return n, false, nil
	}
	var id string
	err := g.write("enrol node "+e.Name, "", func(w *World) error {
		w.made++
		id = fmt.Sprintf("node-%d", len(w.nodes)+w.gone())
		at := w.stamp()
		n := &node{Node: ironic.Node{
			UUID: id, Name: e.Name, ProvisionState: ironic.StateEnroll, Driver: e.Driver, Interfaces: e.Interfaces,
			AutomatedClean: e.AutomatedClean, DisablePowerOff: e.DisablePowerOff, NetworkData: e.NetworkData,
			DriverInfo: maps.Clone(e.DriverInfo), Properties: maps.Clone(e.Properties), Extra: maps.Clone(e.Extra),
			InstanceInfo: map[string]any{}, CreatedAt: at, UpdatedAt: at,
		}}
		if n.Extra == nil {
			n.Extra = map[string]any{}
		}
		if n.Interfaces.Deploy == "" {
			n.Interfaces.Deploy = "direct"
		}
		n.takeAccess()
		w.nodes[id] = n
		w.checkEnrolled(n)
		w.wakeForNode(ironic.Row{}, n.Row())
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return shown(g.world().nodes[id]), true, nil
}

// gone counts the nodes that were removed, so that no id comes twice.
func (w *World) gone() int { return w.removed }

// takeAccess takes over how the BMC is reached, and masks the password.
func (n *node) takeAccess() {
	if system, is := n.DriverInfo["redfish_system_id"].(string); is {
		n.address = system
	}
	if password, is := n.DriverInfo["redfish_password"].(string); is && password != ironic.Masked {
		n.password = password
		n.DriverInfo["redfish_password"] = ironic.Masked
	}
}

// Update implements ironics.Nodes.
func (g gateway) Update(_ context.Context, have *ironic.Node, d ironic.Desired) (*ironic.Node, bool, error) {
	present, found := g.world().nodes[have.UUID]
	if !found {
		return nil, false, failed(ironic.Gone, "update node", "node not found")
	}
	after := *present
	after.Node = *shown(present)
	changed := apply(&after, d, g.run)
	if len(changed) == 0 {
		return shown(present), false, nil
	}
	err := g.write("update "+strings.Join(changed, ", "), have.UUID, func(w *World) error {
		fixed := after.Driver != present.Driver || after.Interfaces != present.Interfaces
		if fixed && !present.Maintenance && !slices.Contains([]ironic.ProvisionState{
			ironic.StateEnroll, ironic.StateManageable, ironic.StateAvailable, ironic.StateInspecting, ironic.StateInspectWait,
		}, present.ProvisionState) {
			return failed(ironic.Rejected, "update node", "cannot update interfaces in state "+string(present.ProvisionState))
		}
		w.change(have.UUID, func(n *node) {
			at, provisioned := n.UpdatedAt, n.ProvisionUpdatedAt
			*n = after
			n.UpdatedAt, n.ProvisionUpdatedAt = at, provisioned
			n.takeAccess()
		})
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return shown(g.world().nodes[have.UUID]), true, nil
}

// apply brings a node to what is desired, and names the members that were changed.
func apply(n *node, d ironic.Desired, r *run) []string {
	var changed []string
	set := func(name string, have *string, want *string) {
		if want != nil && *have != *want {
			*have = *want
			changed = append(changed, name)
		}
	}
	set("name", &n.Name, d.Name)
	set("driver", &n.Driver, d.Driver)
	set("instance_uuid", &n.InstanceUUID, d.InstanceUUID)
	set("owner", &n.Owner, d.Owner)
	if d.AutomatedClean != nil && (n.AutomatedClean == nil || *n.AutomatedClean != *d.AutomatedClean) {
		n.AutomatedClean = d.AutomatedClean
		changed = append(changed, "automated_clean")
	}
	if d.DisablePowerOff != nil && *d.DisablePowerOff != n.DisablePowerOff {
		n.DisablePowerOff = *d.DisablePowerOff
		changed = append(changed, "disable_power_off")
	}
	have, want := reflect.ValueOf(&n.Interfaces).Elem(), reflect.ValueOf(d.Interfaces)
	for i := range want.NumField() {
		if value := want.Field(i).String(); value != "" && value != have.Field(i).String() {
			have.Field(i).SetString(value)
			changed = append(changed, want.Type().Field(i).Name+" interface")
		}
	}
	for _, name := range d.ResetInterfaces {
		if name == "deploy" && n.Interfaces.Deploy != "direct" {
			n.Interfaces.Deploy = "direct"
			changed = append(changed, "Deploy interface")
		}
	}
	fields := func(name string, have *map[string]any, want ironic.Fields) {
		if *have == nil {
			*have = map[string]any{}
		}
		for _, key := range sortedKeys(want) {
			value, there := (*have)[key]
			switch {
			case want[key] == any(ironic.Remove):
				if !there {
					continue
				}
				delete(*have, key)
			case value == ironic.Masked && !d.SendSecrets, there && value != ironic.Masked && sameJSON(value, want[key]):
				continue
			default:
				(*have)[key] = plain(want[key])
			}
			changed = append(changed, name+"."+key)
		}
	}
	fields("driver_info", &n.DriverInfo, d.DriverInfo)
	fields("instance_info", &n.InstanceInfo, d.InstanceInfo)
	fields("properties", &n.Properties, d.Properties)
	fields("extra", &n.Extra, d.Extra)
	return changed
}

// plain is a value as Ironic gives it back.
func plain(v any) any {
	switch v.(type) {
	case string, bool, nil:
		return v
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	var p any
	if json.Unmarshal(raw, &p) != nil {
		return v
	}
	return p
}

func sameJSON(a, b any) bool { return reflect.DeepEqual(plain(a), plain(b)) }

// Delete implements ironics.Nodes.
func (g gateway) Delete(_ context.Context, id string) error {
	return g.write("remove node", id, func(w *World) error {
		n := w.nodes[id]
		removable := slices.Contains([]ironic.ProvisionState{
			ironic.StateEnroll, ironic.StateManageable, ironic.StateAvailable, ironic.StateAdoptFailed,
		}, n.ProvisionState)
		if !removable && !n.Maintenance {
			return failed(ironic.Rejected, "remove node", "cannot delete a node in state "+string(n.ProvisionState))
		}
		w.lose(id)
		return nil
	})
}

// lose takes a node and its ports away.
func (w *World) lose(id string) {
	row := w.nodes[id].Row()
	delete(w.nodes, id)
	for mac, owner := range w.ports {
		if owner == id {
			delete(w.ports, mac)
		}
	}
	w.removed++
	w.wakeForNode(row, ironic.Row{})
}

// NodeOfPort implements ironics.Ports.
func (g gateway) NodeOfPort(_ context.Context, mac string) (string, bool, error) {
	id, found := g.world().ports[strings.ToLower(mac)]
	return id, found, nil
}

// EnsurePorts implements ironics.Ports.
func (g gateway) EnsurePorts(ctx context.Context, id string, ports []ironic.Port) error {
	return g.AddPorts(ctx, id, ports)
}

// AddPorts implements ironics.Ports.
func (g gateway) AddPorts(_ context.Context, id string, ports []ironic.Port) error {
	w := g.world()
	for _, p := range ports {
		mac := strings.ToLower(p.MAC)
		switch owner, found := w.ports[mac]; {
		case found && owner == id:
		case found:
			return &ironic.MACConflictError{MAC: mac, OtherNode: w.nodes[owner].Name}
		default:
			if err := g.write("create port "+mac, id, func(w *World) error { w.ports[mac] = id; return nil }); err != nil {
				return err
			}
		}
	}
	return nil
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
		w.change(id, func(n *node) { n.Maintenance, n.MaintenanceReason, n.Fault = on, reason, "" })
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
	if n, found := g.world().nodes[id]; found {
		return n.LastError, nil
	}
	return "", failed(ironic.Gone, "read history", "node not found")
}

// watch is the node watch of a world: it sees every change at once.
type watch struct{ run *run }

// Row implements ironics.Table.
func (t watch) Row(id string) (ironic.Row, bool) {
	n, found := t.run.world.nodes[id]
	if !found {
		return ironic.Row{}, false
	}
	return n.Row(), true
}

// Named implements ironics.Table.
func (t watch) Named(name string) (row ironic.Row, found, complete bool) {
	for _, n := range t.run.world.nodes {
		if n.Name == name && name != "" {
			return n.Row(), true, true
		}
	}
	return ironic.Row{}, false, true
}

// Learn implements ironics.Table.
func (watch) Learn(ironic.Row) {}

// Forget implements ironics.Table.
func (watch) Forget(string) {}

// Expect implements ironics.Watch.
func (watch) Expect(string, bool) {}

// Nudge implements ironics.Watch.
func (watch) Nudge() {}

// Changes implements ironics.Watch.
func (watch) Changes() <-chan ironic.Change { return nil }

// synced is a channel that is closed.
var synced = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

// Synced implements ironics.Watch.
func (watch) Synced() <-chan struct{} { return synced }

// sortedKeys are the keys of a map, in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
