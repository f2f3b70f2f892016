package health

import (
	"context"
	"errors"
	"slices"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// visits reads the parts that were noted, as long as requests are left: those that
// were bad the last time, so that a second read confirms it or not; then those that
// nothing is known of; then, in turn over the passes, those that are said to be well.
func (r *reader) visits(ctx context.Context) {
	var first, rest []visit
	for _, v := range r.need {
		if r.wasBad(v) {
			first = append(first, v)
		} else {
			rest = append(rest, v)
		}
	}
	idle := slices.DeleteFunc(slices.Clone(r.idle), func(v visit) bool {
		if r.wasBad(v) {
			first = append(first, v)
			return true
		}
		return false
	})
	for _, v := range first {
		r.visit(ctx, v)
	}
	for _, group := range [][]visit{rest, idle} {
		for _, v := range turned(group, r.options.Past.Next) {
			if r.visit(ctx, v) {
				r.out.Next = v.path
			}
		}
	}
}

func (r *reader) wasBad(v visit) bool {
	_, bad := r.options.Past.Bad[v.domain][v.path]
	return bad
}

// turned begins a list behind the one that was read last.
func turned(list []visit, last string) []visit {
	i := slices.IndexFunc(list, func(v visit) bool { return v.path == last })
	return slices.Concat(list[i+1:], list[:i+1])
}

// visit reads one part; false when no request was left.
func (r *reader) visit(ctx context.Context, v visit) bool {
	p, counts, err := v.read(ctx, v.path)
	switch {
	case errors.Is(err, errSpent):
		r.out.Whole[v.domain] = false
		return false
	case client.KindOf(err) == client.NotSupported:
		r.out.Parts = append(r.out.Parts, rules.Part{Domain: v.domain, ID: v.path, State: "Absent"})
	case err != nil:
		// One part that cannot be read hides no others.
		r.out.Whole[v.domain] = false
		r.dead = r.dead || client.KindOf(err) == client.Unreachable
	case counts:
		r.out.Parts = append(r.out.Parts, p)
	}
	return true
}
