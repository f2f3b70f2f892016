package crash

import "sync"

// When is the moment of a kill, relative to a request.
type When string

// The two moments.
const (
	// Before the request is sent on: it never happens.
	Before When = "before the request is sent on"
	// After it was carried out, and before its answer is delivered.
	After When = "before its answer is delivered"
)

// Plan says at which requests the controller dies: at the First, counted from 1
// over both proxies and all its starts, and then at each Every-th. An Every of 0
// is one kill only, a First of 0 none.
type Plan struct {
	When         When
	First, Every int
}

// hits reports whether the n-th request is one to die at.
func (p Plan) hits(n int) bool {
	switch {
	case p.First == 0 || n < p.First:
		return false
	case p.Every == 0:
		return n == p.First
	}
	return (n-p.First)%p.Every == 0
}

// Gate counts the requests of one life, kills the controller as planned, and
// keeps the dead from speaking: what arrives from a killed process is dropped.
type Gate struct {
	plan Plan

	mu      sync.Mutex
	kill    func() // nil while no process lives
	starts  int
	wish    string
	journal Journal
}

// NewGate makes a gate for one life.
func NewGate(plan Plan) *Gate { return &Gate{plan: plan} }

// Wish notes what the user wants from now on.
func (g *Gate) Wish(name string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.wish = name
}

// Journal is what has come through so far.
func (g *Gate) Journal() Journal {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append(Journal(nil), g.journal...)
}

// Kills counts how often the controller was killed.
func (g *Gate) Kills() int {
	n := 0
	for _, e := range g.Journal() {
		if e.Killed {
			n++
		}
	}
	return n
}

// up opens the gate for a process: start starts it and returns how it is killed.
func (g *Gate) up(start func() (kill func(), err error)) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	kill, err := start()
	if err == nil {
		g.kill = kill
		g.starts++
	}
	return err
}

// down shuts the gate and kills the process, if one lives. It reports whether
// one did.
func (g *Gate) down() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.shut()
}

// shut is down with the lock held.
func (g *Gate) shut() bool {
	if g.kill == nil {
		return false
	}
	g.kill()
	g.kill = nil
	return true
}

// alive reports whether a process lives.
func (g *Gate) alive() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.kill != nil
}

// admit enters a request into the journal and returns its index there. It is not
// to be sent on when the process is dead, or dies of it.
func (g *Gate) admit(e Entry) (index int, sendOn bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.kill == nil {
		return 0, false
	}
	e.N, e.Start, e.Wish = len(g.journal)+1, g.starts, g.wish
	e.Killed = g.plan.When == Before && g.plan.hits(e.N)
	g.journal = append(g.journal, e)
	if e.Killed {
		g.shut()
	}
	return e.N - 1, !e.Killed
}

// answered notes the answer to an admitted request, and reports whether it is to
// be delivered: not when the process is dead, or dies of it.
func (g *Gate) answered(index, status int) (deliver bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	e := &g.journal[index]
	e.Status = status
	if g.kill == nil || e.Start != g.starts {
		return false
	}
	e.Killed = g.plan.When == After && g.plan.hits(e.N)
	if e.Killed {
		g.shut()
	}
	return !e.Killed
}
