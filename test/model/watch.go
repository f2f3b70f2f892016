package model

import (
	"github.com/ironflow/ironflow/ironic"
)

// watch is the node watch of a world: it sees every change at once.
type watch struct{ run *run }

// Row implements ironics.Table.
func (t watch) Row(id string) (ironic.Row, bool) {
	n, found := t.run.world.nodes[id]
	if !found {
		return ironic.Row{}, false
	}
	return n.Row, true
}

// Named implements ironics.Table.
func (t watch) Named(name string) (row ironic.Row, found, complete bool) {
	for _, n := range t.run.world.nodes {
		if n.Name == name && name != "" {
			return n.Row, true, true
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
