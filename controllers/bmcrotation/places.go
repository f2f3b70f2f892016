package bmcrotation

import (
	"sync"

	"github.com/ironflow/ironflow/bmc/credentials"
)

// places remembers the BMC that an owner may have a place at the gate for, so that it is
// given back when the host goes, or is let be.
type places struct {
	gate *credentials.Gate

	mu     sync.Mutex
	inside map[string]string // BMC by owner
}

func newPlaces(gate *credentials.Gate) *places {
	return &places{gate: gate, inside: map[string]string{}}
}

// enter remembers the BMC of an owner. One that was given another address has no place at
// the former one any more.
func (p *places) enter(owner, base string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, there := p.inside[owner]; there && before != base {
		p.gate.Leave(before, owner)
	}
	p.inside[owner] = base
	return base
}

// holds reports an owner that may have a place.
func (p *places) holds(owner string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, there := p.inside[owner]
	return there
}

// leave gives the place of an owner back.
func (p *places) leave(owner string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gate.Leave(p.inside[owner], owner)
	delete(p.inside, owner)
}
