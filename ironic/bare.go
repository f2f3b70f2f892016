package ironic

import (
	"strings"
	"sync"
)

// bare remembers which nodes have no interface to firmware, as their answers have
// said. Nodes that have the interfaces take no room.
type bare struct {
	mu    sync.Mutex
	nodes map[string]lacks // by UUID
}

// lacks are the interfaces that a node does without.
type lacks struct{ bios, firmware bool }

// Lacks reports whether a node was last seen without an interface to firmware
// settings, or to firmware components: Ironic then knows none of them, and need not
// be asked. Nodes that were not seen lack nothing.
func (g *Gateway) Lacks(uuid string) (settings, components bool) {
	l := g.bare.of(uuid)
	return l.bios, l.firmware
}

// without is how Ironic's names of interfaces that do nothing begin.
const without = "no-"

// taken makes a snapshot of an answer that describes a node in full.
func (g *Gateway) taken(w *wireNode) *Node {
	n := w.node()
	g.bare.learn(n.UUID, lacks{
		bios: strings.HasPrefix(n.Interfaces.BIOS, without), firmware: strings.HasPrefix(n.Interfaces.Firmware, without),
	})
	return n
}

func (b *bare) learn(uuid string, l lacks) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l == (lacks{}) {
		delete(b.nodes, uuid)
		return
	}
	if b.nodes == nil {
		b.nodes = map[string]lacks{}
	}
	b.nodes[uuid] = l
}

// of tells what a node is known to lack.
func (b *bare) of(uuid string) lacks {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.nodes[uuid]
}
