package health

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// visit is a part that has a resource of its own.
type visit struct {
	domain rules.Domain
	path   string
	// group is what the part stands for, as long as nothing else of it was read; empty
	// for parts that somebody else has called well.
	group string
	read  func(ctx context.Context, path string) (rules.Part, bool, error)
}

// member is the visit of a part of the usual form.
func (r *reader) member(group string, domain rules.Domain, kind rules.Kind, path string) visit {
	return visit{domain, path, group, func(ctx context.Context, path string) (rules.Part, bool, error) {
		var m member
		err := r.get(ctx, path, &m)
		return m.part(domain, kind, path), true, err
	}}
}

// later notes a part to be read. A drive may be below the chassis of its enclosure.
func (r *reader) later(well bool, v visit) {
	switch {
	case r.harmful(v.path):
	case well:
		v.group = ""
		r.idle = append(r.idle, v)
	default:
		r.need = append(r.need, v)
	}
}

// visits reads what was noted, as long as requests are left: what was bad the last
// time, so that a second read confirms it or not; then storages, parts that nothing is
// known of, and parts that are said to be well, each of them in turn over the passes.
func (r *reader) visits(ctx context.Context) {
	keep := r.left / 2 // where much is bad, the others have their turn all the same
	for _, v := range slices.Concat(r.storages, r.need, r.idle) {
		if r.left > keep && r.wasBad(v) {
			r.visit(ctx, v)
		}
	}
	turns := &r.out.Turns
	// The first half of what is left shows which parts there are, the second how they are.
	r.inTurn(ctx, r.storages, &turns.Storage, r.left/2)
	kept := 0
	if len(r.idle) > 0 {
		kept = 1 // else those that are said to be well would never come
	}
	r.inTurn(ctx, r.need, &turns.Need, kept)
	r.inTurn(ctx, r.idle, &turns.Idle, 0)
	for _, v := range slices.Concat(r.storages, r.need, r.idle) {
		if !r.made[v.path] {
			r.made[v.path] = true
			r.leave(v.domain, 1, firstError(r.dead, errSpent))
			r.has(v.group, firstError(r.dead, errSpent))
		}
	}
}

// inTurn makes the visits of a list from the one on that was made last, until no more
// than so many requests are left.
func (r *reader) inTurn(ctx context.Context, all []visit, last *string, keep int) {
	i := slices.IndexFunc(all, func(v visit) bool { return v.path == *last })
	for _, v := range slices.Concat(all[i+1:], all[:i+1]) {
		if !r.made[v.path] && r.left > keep && r.visit(ctx, v) {
			*last = v.path
		}
	}
}

// wasBad says that a part, or one that a storage holds itself, was bad in the last pass.
func (r *reader) wasBad(v visit) bool {
	bad := r.options.Past.Bad[v.domain]
	if _, is := bad[v.path]; is {
		return true
	}
	for id := range bad {
		if strings.HasPrefix(id, v.path+" ") {
			return true
		}
	}
	return false
}

// visit reads one part; false when no request was left.
func (r *reader) visit(ctx context.Context, v visit) bool {
	if r.made[v.path] {
		return true
	}
	if r.dead != nil { // it has its turn in the next pass
		return false
	}
	p, counts, err := v.read(ctx, v.path)
	if errors.Is(err, errSpent) {
		r.out.Whole[v.domain] = false
		return false
	}
	r.made[v.path] = true
	r.has(v.group, err)
	switch {
	case client.KindOf(err) == client.NotSupported:
		r.out.Parts = append(r.out.Parts, rules.Part{Domain: v.domain, ID: v.path, State: "Absent"})
	case err != nil:
		// One part that cannot be read hides no others.
		r.leave(v.domain, 1, err)
	case counts:
		r.out.Parts = append(r.out.Parts, p)
	}
	return true
}
