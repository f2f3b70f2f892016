package model

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// node is a node of Ironic with what its API does not show.
type node struct {
	ironic.Node

	address  string // of the BMC
	password string
	chosen   string // the id that its enrolment named; nodes are numbered nonetheless
	// abandoned means that its host went without a controller, or that somebody else has
	// taken it, so that it may stay.
	abandoned bool
	silent    bool // the agent in the live image does not call
	wish      string
	inspect   bool // there is an inventory
	restarts  int  // of the machine, in this deployment
	unseen    bool // that it came on by itself; Ironic looks once a minute as a rule
	cameOn    time.Time
	// begun means that the record of what may be on the machine was taken away because somebody asks for a
	// system on it, and it was off: what comes on by itself from then on is at work.
	begun bool
	// unabortable means that Ironic has refused to end a deployment by itself.
	unabortable bool
}

// change replaces a node by a changed copy. Every change moves updated_at.
func (w *World) change(id string, edit func(*node)) *node {
	n := *w.nodes[id]
	before := n.Row
	edit(&n)
	w.made++ // no two changes have one time
	n.UpdatedAt = w.stamp()
	n.readExtra()
	if n.ProvisionState != before.ProvisionState {
		n.ProvisionUpdatedAt = n.UpdatedAt
	}
	w.nodes[id] = &n
	if !reflect.DeepEqual(before, n.Row) {
		w.wakeForNode(before, n.Row)
	}
	return &n
}

// readExtra fills in what lists show of extra.
func (n *node) readExtra() {
	n.Wish = ironic.WishDigest(n.Extra[ironic.KeyWish])
	n.Credentials, _ = n.Extra[ironic.KeyCredentials].(string)
	n.Machine, _ = n.Extra[ironic.KeyMachine].(string)
	n.Told, _ = n.Extra[ironic.KeyTold].(string)
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
		if found && op == provisionState+string(ironic.TargetAbort) {
			w.change(id, func(n *node) { n.unabortable = true })
		}
		return failed(ironic.Rejected, op, "refused by the model")
	case answer == down:
		g.run.note("Ironic does not answer %q", op)
		return failed(ironic.Unavailable, op, "connection refused")
	case id != "" && !found:
		return failed(ironic.Gone, op, "node not found")
	case found && n.Reservation != "":
		return failed(ironic.Busy, op, "node is locked by host "+n.Reservation)
	}
	g.run.checkHold(op)
	g.run.checkMoved(op)
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
	if err := g.run.look("get node"); err != nil {
		return nil, err
	}
	return g.node(ident)
}

// node is the node of an id or a name.
func (g gateway) node(ident string) (*ironic.Node, error) {
	for _, id := range sortedKeys(g.world().nodes) {
		if n := g.world().nodes[id]; n.UUID == ident || (n.Name == ident || n.chosen == ident) && ident != "" {
			return shown(n), nil
		}
	}
	return nil, failed(ironic.Gone, "get node", "node "+ident+" could not be found")
}

// Find implements ironics.Nodes as ironic.Gateway does.
func (g gateway) Find(_ context.Context, id ironic.Identity) (*ironic.Node, error) {
	if err := g.run.look("find node"); err != nil {
		return nil, err
	}
	for _, ident := range []string{id.UUID, id.Name, ironic.PlainName(id.Name)} {
		if ident == "" || id.Unknown {
			continue
		}
		if n, err := g.node(ident); err == nil && (n.UUID != id.Other || ident == id.Name) {
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
func (g gateway) Create(_ context.Context, e ironic.Enrolment) (*ironic.Node, bool, error) {
	if n, err := g.node(e.Name); err == nil {
		return n, false, nil
	}
	for _, id := range sortedKeys(g.world().nodes) {
		if n := g.world().nodes[id]; e.UUID != "" && n.chosen == e.UUID {
			return shown(n), false, nil
		}
	}
	var id string
	err := g.write("enrol node "+e.Name, "", func(w *World) error {
		w.made++
		id = fmt.Sprintf("node-%d", len(w.nodes)+w.gone())
		at := w.stamp()
		n := &node{Node: ironic.Node{
			Row:    ironic.Row{UUID: id, Name: e.Name, ProvisionState: ironic.StateEnroll},
			Driver: e.Driver, Interfaces: e.Interfaces,
			AutomatedClean: e.AutomatedClean, DisablePowerOff: e.DisablePowerOff, NetworkData: e.NetworkData,
			DriverInfo: maps.Clone(e.DriverInfo), Properties: maps.Clone(e.Properties), Extra: maps.Clone(e.Extra),
			InstanceInfo: map[string]any{}, CreatedAt: at, UpdatedAt: at,
		}, chosen: e.UUID}
		if n.Extra == nil {
			n.Extra = map[string]any{}
		}
		if n.Interfaces.Deploy == "" {
			n.Interfaces.Deploy = "direct"
		}
		n.takeAccess()
		n.readExtra()
		w.nodes[id] = n
		w.checkEnrolled(n)
		w.wakeForNode(ironic.Row{}, n.Row)
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	return shown(g.world().nodes[id]), true, nil
}

// gone counts the nodes that were removed, so that no id comes twice.
func (w *World) gone() int { return w.removed }

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
	row, address := w.nodes[id].Row, w.nodes[id].address
	delete(w.nodes, id)
	for mac, owner := range w.ports {
		if owner == id {
			delete(w.ports, mac)
		}
	}
	w.removed++
	w.nodeLost(w.ownersOf(address))
	for _, key := range w.ownersOf(address) {
		if a, h := w.asked[key], w.host(key); !a.Older && !nodespec.InUse(h) && h.Status.Provisioning.State != metal3.StateAvailable {
			a.Forgotten = true // nothing says what is on the machine
			w.asked[key] = a
		}
	}
	w.wakeForNode(row, ironic.Row{})
}

// sortedKeys are the keys of a map, in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
