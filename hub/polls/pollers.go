package polls

import (
	"hash/fnv"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
)

const (
	// pollsPerSecond is how many polls a hub means to answer beside its other work, each with the making of a
	// connection and with what the agent replies: with twice as many, 5,000 hosts that hurry and as many at rest
	// take more than half a processor (cores of `make bench-hub`).
	pollsPerSecond = 100
	// pollersWindow is how long a host counts after its poll: the longest usual delay.
	pollersWindow = time.Minute
	// putOffGap is the gap of a host whose checks are put off. An agent comes up to a quarter later than its gap:
	// within a minute (cycle_s of `make bench-agent`).
	putOffGap = 45 * time.Second
)

// pollers counts the hosts that poll. Hosts of two windows are kept, so that the
// count does not fall to nothing when one begins.
type pollers struct {
	mu          sync.Mutex
	since       time.Time
	now, before map[store.HostKey]struct{}
}

// meet notes a poll and returns how many hosts poll these days.
func (p *pollers) meet(key store.HostKey, at time.Time) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if age := at.Sub(p.since); p.now == nil || age >= pollersWindow || age < 0 {
		p.before, p.now, p.since = p.now, map[store.HostKey]struct{}{}, at
		if age >= 2*pollersWindow {
			p.before = nil
		}
	}
	p.now[key] = struct{}{}
	return max(len(p.now), len(p.before))
}

// Pause notes that the host polls and returns when it polls again, in whole seconds.
//
// gap is the least time until then: with few hosts none, and the more hosts there are the
// longer, so that those which hurry leave room for all. It never exceeds the
// usual delay of a minute. delay is what the hub asks for: a host that is to come
// back soon is on its way to an installation, and only others on theirs count.
//
// pause is for agents that know no gap: the delay, or the gap where that is longer. In a
// large fleet it is up to a half shorter until the host comes at its own moment of the pause.
func (d *Answerer) Pause(key store.HostKey, delay time.Duration) (pause, gap time.Duration) {
	now := d.units.Now()
	hosts := d.all.meet(key, now)
	if delay > 0 && delay < instructions.Normal {
		hosts = d.hurried.meet(key, now)
	}
	gap = gapFor(hosts)
	if delay > instructions.Normal && d.behind() > repeatsBehind {
		gap = max(gap, putOffGap) // its checks are put off: that they are fewer is no change to come back for
	}
	if delay <= 0 {
		return delay, gap // the agent is not to come back
	}
	pause = max(delay, gap)
	if hosts > pollsPerSecond {
		pause -= early(key, now, pause)
	}
	return pause, gap
}

// gapFor is the least pause between two polls of so many hosts. Long ones go by tens of seconds: each
// change of the pause moves the moments at which hosts come, see [early].
func gapFor(hosts int) time.Duration {
	seconds := (hosts + pollsPerSecond - 1) / pollsPerSecond
	if seconds > 10 {
		seconds = (seconds + 9) / 10 * 10
	}
	return min(time.Duration(seconds)*time.Second, pollersWindow)
}

// early is by how much sooner a host comes, in whole seconds. Hosts that were once answered together, as
// those of a large cluster that booted together, would come together ever after: each has a moment within
// the pause, and is brought there step by step.
func early(key store.HostKey, now time.Time, pause time.Duration) time.Duration {
	name := fnv.New64a()
	_, _ = name.Write([]byte(key.HostID)) // it never fails
	seconds := int64(pause / time.Second)
	moment := int64(name.Sum64() >> 1 % uint64(seconds))
	late := (now.Unix() + seconds - moment) % seconds
	return time.Duration(min(late, seconds/2)) * time.Second
}
