package nodezero

import (
	"cmp"
	"slices"
	"time"
)

// rest knows since when the addresses of a host have been the same.
type rest struct {
	have []Address
	// changed is when they were others, first when there was one of use.
	changed, first time.Time
}

// see takes the addresses of a moment and returns for how long more are waited for; nothing
// or less once they have settled. The kernel also reports what is no change, such as the
// lifetimes that a router renews. Addresses of links count: a card whose cable comes late has
// one before it has another.
func (r *rest) see(all []Address, now time.Time) time.Duration {
	if have := inOrder(all); r.changed.IsZero() || !slices.Equal(have, r.have) {
		r.have, r.changed = have, now
	}
	if r.first.IsZero() && len(usable(all)) > 0 {
		r.first = now
	}
	until := r.changed.Add(settled)
	if limit := r.first.Add(patience); !r.first.IsZero() && limit.Before(until) {
		until = limit
	}
	return until.Sub(now)
}

// inOrder are addresses in an order of their own, without their routes.
func inOrder(all []Address) []Address {
	all = slices.Clone(all)
	for i := range all {
		all[i].Default = false
	}
	slices.SortFunc(all, func(a, b Address) int { return cmp.Or(a.Addr.Compare(b.Addr), cmp.Compare(a.Interface, b.Interface)) })
	return all
}
