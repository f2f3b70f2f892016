package model

import (
	"context"
	"math/rand/v2"
	"sync"
)

const (
	// wanderSteps is how long one walk is, at most.
	wanderSteps = 40
	// unusual is how many of 10 steps are not what happens by itself.
	unusual = 4
	// upsets is how many of 10 of those go wrong.
	upsets = 3
)

// wander makes walks by chance until the context ends, longer ones than those that a
// search of all has the time for.
func (s *search) wander(ctx context.Context, runs []*run, scenarios []Scenario) {
	begins := make([]*World, len(scenarios))
	for i, scenario := range scenarios {
		begins[i] = scenario.begin(runs[0], s.Users+1, s.Faults+1)
	}
	var group sync.WaitGroup
	for i, r := range runs {
		chance := rand.New(rand.NewPCG(s.Seed, uint64(i))) //nolint:gosec // no secret depends on it
		group.Go(func() {
			for ctx.Err() == nil && !s.stop() {
				at := chance.IntN(len(scenarios))
				p := place{world: begins[at], scenario: scenarios[at].Name}
				for range wanderSteps {
					st, more := p.world.byChance(chance)
					if !more || ctx.Err() != nil || p.world.broken != "" {
						break
					}
					p = s.step(r, p, st)
					s.arrive(r, p, false)
				}
			}
		})
	}
	group.Wait()
}

// byChance is a step that the world may make.
func (w *World) byChance(chance *rand.Rand) (step, bool) {
	moves := w.moves()
	if m, more := w.fair(); more && chance.IntN(10) >= unusual {
		return step{move: m}, true
	}
	if len(moves) == 0 {
		return step{}, false
	}
	st := step{move: moves[chance.IntN(len(moves))]}
	left := w.faults
	if st.kind == fault {
		left--
	}
	if left <= 0 || chance.IntN(10) >= upsets {
		return st, true
	}
	switch chance.IntN(5) {
	case 0:
		st.Crash = 1 + chance.IntN(6)
	case 1:
		st.Request, st.Answer = 1+chance.IntN(4), []answer{busy, refused, lost, down}[chance.IntN(4)]
	case 2:
		st.Read = 1 + chance.IntN(3)
	case 3:
		st.Write, st.Answer = 1+chance.IntN(4), []answer{refused, lost}[chance.IntN(2)]
	default:
		st.Stale = st.kind == user
	}
	return st, true
}
