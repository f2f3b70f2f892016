package policy

import (
	"github.com/ironflow/ironflow/controllers/host/policy/nodeaction"
	"github.com/ironflow/ironflow/ironic"
)

// Refresh reads the node in full. Steps do not ask for it by name: knownNode and readNode
// do, for whoever needs more than the watch keeps.
type Refresh struct{}

// Name implements Action.
func (Refresh) Name() string { return "read node" }

// knownNode returns the node if it was read in full, in this pass or before: good enough
// for all that neither changes the machine nor ends the node. Otherwise it asks for a look
// at it, and nothing else that is decided counts.
func (o *Observed) knownNode(d *Decision) (nodeaction.Known, bool) {
	n, known := o.InFull()
	if !known {
		d.do(Refresh{})
	}
	return n, known
}

// readNode returns the node if it was read in this pass. Otherwise it asks for that, and
// nothing else that is decided counts.
func (o *Observed) readNode(d *Decision) (nodeaction.Read, bool) {
	n, read := o.AsRead()
	if !read {
		d.do(Refresh{})
	}
	return n, read
}

// transition asks for a provision state.
func transition(o *Observed, d *Decision, t ironic.Transition) {
	if n, ok := o.readNode(d); ok {
		d.do(n.Transition(t))
	}
}

// target asks for a provision state that needs no more than its name.
func target(o *Observed, d *Decision, t ironic.Target) {
	transition(o, d, ironic.Transition{Target: t})
}

// manage asks for "manageable", by which nothing happens to the machine.
func manage(o *Observed, d *Decision) {
	if n, ok := o.knownNode(d); ok {
		d.do(n.Manage())
	}
}

// power asks for a power state.
func power(o *Observed, d *Decision, p ironic.PowerRequest) {
	if n, ok := o.readNode(d); ok {
		d.do(n.Power(p))
	}
}

// looking reports a decision that only asks for a look at the node.
func looking(d *Decision) bool {
	_, is := d.Do.(Refresh)
	return is
}

// tooVague reports a decision that wants a better look at the node first: an error is
// never recorded, and no phase changed, by fields that may be old or were never read.
func tooVague(o *Observed, d *Decision) bool {
	if o.Node == nil {
		return false
	}
	_, known := o.InFull()
	_, read := o.AsRead()
	return !read && d.NewlyFailing() || !known && d.Status.Provisioning.State != o.State()
}
