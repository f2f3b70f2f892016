package unit

import (
	"maps"
	"sync"
	"time"
)

const (
	// newcomersBehind is how far the hub may be behind before new hosts are sent away: what waits is short, and each
	// of them brings an inventory after its registration, which must find the hub less than maxBehind behind.
	newcomersBehind = maxBehind / 4
	// unitsOfNewcomer is about how many units of work a host brings that registers: its registration, and an inventory
	// that takes as long as two.
	unitsOfNewcomer = 3
	// latestNewcomer is the latest moment that a host is given that registers: the hub hears nothing of most of them
	// before that, and our agent waits no longer than five minutes, the quarter that it comes later included.
	latestNewcomer = 4 * time.Minute
	// promisesKept is how long a host may come after its moment, mostPromises of how many that is remembered: whoever
	// has a token can name any number.
	promisesKept = 5 * time.Minute
	mostPromises = 1 << 16
)

// newcomers remembers the hosts that were sent away when they registered: who comes at the moment that it was given
// goes before those who come for the first time, or it might be sent away again and again (refused_most of
// `make bench-hub CORES=1`). The zero value is ready.
type newcomers struct {
	mu sync.Mutex
	// promised is the moment that each host was given.
	promised map[string]time.Time
}

// promise notes when a host is to come.
func (n *newcomers) promise(host string, now, at time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.promised == nil {
		n.promised = map[string]time.Time{}
	}
	if len(n.promised) >= mostPromises {
		maps.DeleteFunc(n.promised, func(_ string, moment time.Time) bool { return now.Sub(moment) > promisesKept })
	}
	if len(n.promised) >= mostPromises {
		clear(n.promised)
	}
	n.promised[host] = at
}

// comesAsTold reports whether the host was given a moment that has come, and forgets it.
func (n *newcomers) comesAsTold(host string, now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	at, told := n.promised[host]
	if !told || now.Before(at) {
		return false
	}
	delete(n.promised, host)
	return now.Sub(at) <= promisesKept
}

// Admit lets a host register, or tells it to come later. One that comes when it was told to is let in for as long
// as the hub takes anything of agents.
func (u *Units) Admit(host string) error {
	behind, now := u.BehindBy(), time.Now()
	if behind <= newcomersBehind || behind <= maxBehind && u.newcomers.comesAsTold(host, now) {
		return nil
	}
	busy := u.later(unitsOfNewcomer, latestNewcomer)
	u.newcomers.promise(host, now, now.Add(busy.After))
	return busy
}
