package model

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
)

// step is a move with what goes wrong in the passes that follow it.
type step struct {
	move
	upset
}

// String is a step as a story tells it, and as [Replay] reads it.
func (s step) String() string {
	text := s.move.String()
	switch {
	case s.Crash > 0:
		text += fmt.Sprintf("; crash after write %d", s.Crash)
	case s.Request > 0:
		text += fmt.Sprintf("; request %d is %s", s.Request, s.Answer)
	case s.Read > 0:
		text += fmt.Sprintf("; look %d fails", s.Read)
	case s.Write > 0:
		text += fmt.Sprintf("; write %d is %s", s.Write, s.Answer)
	case s.Stale:
		text += "; stale cache"
	}
	return text
}

// make makes a step, and lets the controller come to rest.
func (r *run) make(w *World, s step) {
	switch s.kind {
	case user:
		w.users--
	case fault:
		w.faults--
	case free:
	}
	if s.upset != (upset{}) {
		w.faults--
	}
	r.world, r.upset, r.counts = w, s.upset, counts{}
	s.do(w, s.about)
	r.toRest(w)
	w.remember()
}

// backedUp are the states of which there are backups.
var backedUp = []metal3.ProvisioningState{metal3.StateAvailable, metal3.StateProvisioning, metal3.StateProvisioned, metal3.StateDeprovisioning}

// remember makes a backup of hosts that are in one of those states for the first time.
func (w *World) remember() {
	for _, key := range w.hosts() {
		h := w.host(key)
		b := backup{key, h.Status.Provisioning.State}
		if slices.Contains(backedUp, b.state) && w.saved[b].host == nil && h.Status.ErrorType == "" && h.DeletionTimestamp == nil {
			works := w.works[key]
			if w.fresh[key] {
				works++
			}
			w.saved[b] = saved{h, w.asked[key].Destroy, w.installs[systemOf(h)], works}
		}
	}
}

// path is a history, the last step first.
type path struct {
	before *path
	step   step
	depth  int
}

func (p *path) steps() []step {
	var list []step
	for ; p != nil; p = p.before {
		list = append(list, p.step)
	}
	slices.Reverse(list)
	return list
}

// place is a world that a search has come to.
type place struct {
	world    *World
	path     *path
	scenario string
}

// Counterexample is a history that must not be.
type Counterexample struct {
	Scenario string
	Steps    []string
	Broken   string
}

// Result is what a search has come to.
type Result struct {
	States, Steps, Depth int
	Complete             bool // no history within the budgets is left out
	Found                []Counterexample
}

// Limits bound a search.
type Limits struct {
	Users, Faults int
	// Focused leaves out of each scenario the moves that it is not about.
	Focused bool
	States  int // at most; 0 for no bound
	Depth   int
	Workers int
	Found   int // counterexamples after which it ends; 0 for no bound
	// Seed, unless 0, has walks by chance follow upon the search, until the context ends.
	Seed uint64
	// Known are counterexamples that say nothing new, and neither does what they cover.
	Known []Counterexample
	// Tell, unless nil, is told of each counterexample when it is found, one at a time.
	Tell func(Counterexample)
}

// search is one search at work.
type search struct {
	Limits

	mu    sync.Mutex
	seen  map[uint64]struct{}
	live  map[uint64]struct{} // from which a host comes to rest as it should
	next  []place
	found Result
}

// Search walks the histories of scenarios, the shortest first, until the context ends.
func Search(ctx context.Context, scenarios []Scenario, l Limits) (Result, error) {
	s := &search{Limits: l, seen: map[uint64]struct{}{}, live: map[uint64]struct{}{}}
	runs := make([]*run, max(l.Workers, 1))
	for i := range runs {
		var err error
		if runs[i], err = newRun(); err != nil {
			return Result{}, err
		}
	}
	for _, scenario := range scenarios {
		w := scenario.begin(runs[0], l.Users, l.Faults)
		if l.Focused {
			w.only = scenario.about
		}
		s.arrive(runs[0], place{world: w, scenario: scenario.Name}, true)
	}
	for len(s.next) > 0 && s.found.Depth < l.Depth && ctx.Err() == nil && !s.enough() {
		level := s.next
		s.next = nil
		s.found.Depth++
		s.walk(ctx, runs, level)
	}
	if s.found.Complete = len(s.next) == 0; s.Seed != 0 {
		s.next, s.States = nil, 0
		s.wander(ctx, runs, scenarios)
	}
	return s.found, nil
}

func (s *search) enough() bool {
	return s.Found > 0 && len(s.found.Found) >= s.Found || s.States > 0 && s.found.States >= s.States
}

// walk goes on from all places of a level.
func (s *search) walk(ctx context.Context, runs []*run, level []place) {
	var group sync.WaitGroup
	var mu sync.Mutex
	at := 0
	for _, r := range runs {
		group.Go(func() {
			for {
				mu.Lock()
				if at >= len(level) || ctx.Err() != nil || s.stop() {
					mu.Unlock()
					return
				}
				from := level[at]
				level[at] = place{}
				at++
				mu.Unlock()
				s.expand(r, from)
			}
		})
	}
	group.Wait()
	if at < len(level) {
		s.next = append(s.next, level[at:]...)
	}
}

func (s *search) stop() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.enough()
}

// expand makes every step from a place.
func (s *search) expand(r *run, from place) {
	for _, m := range from.world.moves() {
		made := s.try(r, from, step{move: m})
		left := from.world.faults
		if m.kind == fault {
			left--
		}
		if left <= 0 {
			continue
		}
		for k := 1; k <= made.writes; k++ {
			s.try(r, from, step{m, upset{Crash: k}})
		}
		for k := 1; k <= made.requests; k++ {
			for _, a := range []answer{busy, refused, lost, down} {
				s.try(r, from, step{m, upset{Request: k, Answer: a}})
			}
		}
		for k := 1; k <= made.reads; k++ {
			s.try(r, from, step{m, upset{Read: k}})
		}
		for k := 1; k <= made.stored; k++ {
			s.try(r, from, step{m, upset{Write: k, Answer: refused}})
			s.try(r, from, step{m, upset{Write: k, Answer: lost}})
		}
		if m.kind == user {
			s.try(r, from, step{m, upset{Stale: true}})
		}
	}
}

// try makes one step from a place.
func (s *search) try(r *run, from place, st step) counts {
	to := s.step(r, from, st)
	made := r.counts
	s.arrive(r, to, true)
	return made
}

// step is where a step from a place leads.
func (s *search) step(r *run, from place, st step) place {
	w := from.world.copy()
	r.make(w, st)
	depth := 1
	if from.path != nil {
		depth = from.path.depth + 1
	}
	return place{world: w, scenario: from.scenario, path: &path{before: from.path, step: st, depth: depth}}
}

// arrive takes a place in, if nobody was there. All is gone on from, if it is to be searched.
func (s *search) arrive(r *run, p place, goOn bool) {
	key := p.world.hash()
	s.mu.Lock()
	s.found.Steps++
	_, known := s.seen[key]
	s.seen[key] = struct{}{}
	if !known {
		s.found.States++
	}
	s.mu.Unlock()
	if p.world.broken != "" {
		s.report(p, nil, p.world.broken)
		return
	}
	if known {
		return
	}
	if tail, broken := s.comesToRest(r, p.world); broken != "" {
		s.report(p, tail, broken)
		return
	}
	if goOn {
		s.mu.Lock()
		s.next = append(s.next, p)
		s.mu.Unlock()
	}
}

// report takes a counterexample down: the first one of its kind.
func (s *search) report(p place, tail []string, broken string) {
	c := Counterexample{Scenario: p.scenario, Broken: broken}
	for _, st := range p.path.steps() {
		c.Steps = append(c.Steps, st.String())
	}
	c.Steps = append(c.Steps, tail...)
	s.mu.Lock()
	defer s.mu.Unlock()
	known := append(slices.Clone(s.Known), s.found.Found...)
	if slices.ContainsFunc(known, func(known Counterexample) bool { return known.covers(c) }) {
		return
	}
	s.found.Found = append(s.found.Found, c)
	if s.Tell != nil {
		s.Tell(c)
	}
}

// comesToRest goes on from a world by itself, and says what is wrong with that.
func (s *search) comesToRest(r *run, w *World) (tail []string, broken string) {
	var way []uint64
	tail, broken = r.comesToRest(w, func(key uint64) bool {
		way = append(way, key)
		s.mu.Lock()
		defer s.mu.Unlock()
		_, known := s.live[key]
		return known
	})
	if broken != "" {
		return tail, broken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range way {
		s.live[key] = struct{}{}
	}
	return nil, ""
}
