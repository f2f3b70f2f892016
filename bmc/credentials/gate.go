package credentials

import "sync"

// Gate bounds how many changes are under way at once, and keeps them to one per BMC.
// The zero value lets nobody begin. Its methods may be called by many at once.
type Gate struct {
	// Most is how many may be under way.
	Most int

	mu     sync.Mutex
	inside map[string]string // owner by BMC
}

// Enter lets an owner, as a host's name, begin a change of a BMC, if there is room and
// nobody else has the BMC. Whoever is inside already stays. One that goes on with what
// was begun before the program started must: it is let in whatever the number is,
// unless somebody else has the BMC.
func (g *Gate) Enter(bmc, owner string, must bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if now, taken := g.inside[bmc]; taken {
		return now == owner
	}
	if !must && len(g.inside) >= g.Most {
		return false
	}
	if g.inside == nil {
		g.inside = map[string]string{}
	}
	g.inside[bmc] = owner
	return true
}

// Leave gives a place back. It is no error if the owner has none.
func (g *Gate) Leave(bmc, owner string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside[bmc] == owner {
		delete(g.inside, bmc)
	}
}

// Inside is how many changes are under way.
func (g *Gate) Inside() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.inside)
}
