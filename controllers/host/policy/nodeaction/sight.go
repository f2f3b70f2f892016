package nodeaction

import "github.com/ironflow/ironflow/ironic"

// Sight is what is known of a host's node. The zero Sight is that of a node that was
// not looked for.
type Sight struct {
	// Node is what the watch keeps of the node, as of now; nil when it was not looked for,
	// or is not there. Good enough to wait on.
	Node *ironic.Row
	// Missing means that Ironic has no node of this host.
	Missing bool

	full *ironic.Node // Node is its row
	now  bool         // full was read in this pass
}

// Missing is the sight of a node that Ironic does not have.
func Missing() Sight { return Sight{Missing: true} }

// Summary is the sight of a node of which only the watch tells.
func Summary(row ironic.Row) Sight { return Sight{Node: &row} }

// Remembered is the sight of a node that was read in full in an earlier pass, with what
// the watch tells of it by now. The node itself is left as it is.
func Remembered(n ironic.Node, row ironic.Row) Sight {
	n.Row = row
	return Sight{Node: &n.Row, full: &n}
}

// JustRead is the sight of a node that was read in this pass.
func JustRead(n *ironic.Node) Sight { return Sight{Node: &n.Row, full: n, now: true} }

// InFull returns the node if it was read in full, in this pass or before.
func (s Sight) InFull() (Known, bool) { return Known{s.full}, s.full != nil }

// AsRead returns the node if it was read in this pass.
func (s Sight) AsRead() (Read, bool) { return Read{Known{s.full}}, s.full != nil && s.now }

// Summary is the sight of the same node with what the watch keeps alone.
func (s Sight) Summary() Sight {
	if s.Node == nil {
		return s
	}
	return Summary(*s.Node)
}

// Copy is the same sight of a node of its own, to be changed apart.
func (s Sight) Copy() Sight {
	switch {
	case s.full != nil:
		c := Remembered(*s.full, *s.Node)
		c.now = s.now
		return c
	case s.Node != nil:
		return s.Summary()
	}
	return s
}

// node is embedded so that a node's fields can be read, and nobody else can name them.
type node = ironic.Node

// Known is a node that was read in full, with what the watch tells of it by now. It is
// good enough for all that neither changes the machine nor ends the node.
type Known struct{ *node }

// Node is the whole node.
func (k Known) Node() *ironic.Node { return k.node }

// Read is a node that was read in this pass: what is done to a machine begins here.
type Read struct{ Known }
