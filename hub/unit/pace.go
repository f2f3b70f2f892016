package unit

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
)

const (
	// maxBehind is how far the hub may be behind before it does without what it can: what it has
	// can still be answered before agents give up.
	maxBehind = 20 * time.Second
	// maxLater is the latest moment that a refused caller is given, unless it registers. An agent that is sent away with a report comes
	// up to a quarter later, and polls a minute after that: with more, it would be silent for three minutes, and
	// its host be called disconnected, which is more work for a hub that has too much.
	maxLater = 90 * time.Second
	// sample is of how many units the time of each is the average.
	sample = 32
	// complainEvery is how often the log says that the hub is behind.
	complainEvery = time.Minute
)

// pace knows how fast the hub gets through its units of work. The zero value is ready.
type pace struct {
	mu sync.Mutex
	// open are units that wait or are under way.
	open int
	// each is how long the hub takes for one, at most; zero while nobody knows. usual is the same over a longer time:
	// who is sent away while the machine has other work for a moment would come when the hub has long been idle.
	each, usual time.Duration
	// done are the units of the present sample, busy the time with any open until since, which
	// is when that was last added up.
	done  int
	busy  time.Duration
	since time.Time
	// promised is the last moment that was given to a caller.
	promised, complained time.Time
}

func (p *pace) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addUp()
	p.open++
}

// end follows begin; worked tells that the unit was not only waiting.
func (p *pace) end(worked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.addUp()
	p.open--
	if !worked {
		return
	}
	if p.done++; p.done == sample {
		if p.each, p.done, p.busy = p.busy/sample, 0, 0; p.usual == 0 {
			p.usual = p.each
		}
		p.usual += (p.each - p.usual) / 8
	}
}

// addUp notes the time until now.
func (p *pace) addUp() {
	now := time.Now()
	if p.open > 0 {
		p.busy += now.Sub(p.since)
	}
	p.since = now
}

// behind is how long the hub takes for what it has to do.
func (p *pace) behind() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.open) * p.each
}

// later is how long a caller waits who was sent away, and comes back with so many units of work. Each is given a
// moment of its own, after all that is to be done and was promised, so that they come as the hub gets through them;
// where that is later than the latest, some moment before.
func (p *pace) later(units int, latest time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	free := now.Add(time.Duration(p.open) * p.usual)
	if p.promised.After(free) {
		free = p.promised
	}
	own := free.Add(time.Duration(units) * p.usual)
	if own.Sub(now) > latest { // no moment is left: not all at the last one
		return latest/2 + rand.N(latest/2) //nolint:gosec // it is no secret
	}
	p.promised = own
	return own.Sub(now)
}

// complains reports whether the log is to say that the hub is behind.
func (p *pace) complains() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if now.Sub(p.complained) < complainEvery {
		return false
	}
	p.complained = now
	return true
}

// Behind reports whether the hub would not get through more of agents before they give up.
func (u *Units) Behind() bool { return u.BehindBy() > maxBehind }

// BehindBy is how long the hub takes for what it has to do.
func (u *Units) BehindBy() time.Duration { return u.pace.behind() }

// Later tells a caller to come later.
func (u *Units) Later() error { return u.later(1, maxLater) }

// later tells a caller to come later who brings so many units of work.
func (u *Units) later(units int, latest time.Duration) *apierror.BusyError {
	if u.pace.complains() {
		u.Log.Warn("the hub has more to do than it gets through; agents are told to come later", "behind", u.pace.behind().Round(time.Second))
	}
	return &apierror.BusyError{After: u.pace.later(units, latest)}
}
