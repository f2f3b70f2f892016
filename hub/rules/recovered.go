package rules

import "slices"

// Recovered says what an object is whose record was lost with the hub's store, by the state that it
// had, and what it is told. One whose state is not in it begins anew.
type Recovered map[string]struct{ State, Info string }

// Overtaken tells that an object which somebody has seen in one state has gone on since a backup, in whose record it
// has the other: its installation had not begun there, or not ended. What had ended is believed, for who has seen the
// object may have seen it some moments earlier. On its way is what is being installed.
func (r Recovered) Overtaken(record, seen string, onItsWay []string) bool {
	_, begun := r[record]
	_, lasting := r[seen]
	return lasting && (!begun || slices.Contains(onItsWay, record) && !slices.Contains(onItsWay, seen))
}
