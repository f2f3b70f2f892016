package unit

import "time"

const (
	// newcomersBehind is how far the hub may be behind before new hosts are sent away: what waits is short, and each
	// of them brings an inventory after its registration, and those that were sent away come as well: all of them must
	// be answered before they give up, also if the hub gets slower meanwhile.
	newcomersBehind = maxBehind / 4
	// unitsOfNewcomer is about how many units of work a host brings that registers: its registration, and an inventory
	// that takes as long as two.
	unitsOfNewcomer = 3
	// latestNewcomer is the latest moment that a host is given that registers: the hub hears nothing of most of them
	// before that, and our agent waits no longer than five minutes, the quarter that it comes later included.
	latestNewcomer = 4 * time.Minute
)

// Admit lets a host register, or tells it to come later. One that has waited comes at the moment that it was given,
// by whichever replica. It waits for its turn like all that is begun, also if the hub is slower by then: each host is
// sent away once (refused_most of `make bench-hub CORES=1`). That it has waited is its own word: one that lies
// gets what it would have got after a refusal.
func (u *Units) Admit(hasWaited bool) error {
	if hasWaited || u.BehindBy() <= newcomersBehind {
		return nil
	}
	return u.later(unitsOfNewcomer, latestNewcomer)
}
