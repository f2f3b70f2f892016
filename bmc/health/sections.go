package health

import (
	"context"
	"errors"
	"slices"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/health/rules"
)

// section is a part of the machine that is read at once: what cools a chassis, what feeds
// it, and lists of the system.
type section struct {
	key    string
	domain rules.Domain
	read   func(ctx context.Context) error
}

// storageSection is the one that leads to storages, which lead to further parts.
var storageSection = section{key: "storage", domain: rules.Storage}

// forParts is how many requests of a pass are for parts that have a resource of their own.
const forParts = 3

// sections reads them from the one on that was read last: together they may take more
// requests than a pass has.
func (r *reader) sections(ctx context.Context, s *system) {
	all := r.sectionsOf(s)
	if !r.options.Everything {
		r.floor = min(forParts, r.left/2)
	}
	last := slices.IndexFunc(all, func(one section) bool { return one.key == r.options.Past.Turns.Section })
	cut := false
	for i, one := range slices.Concat(all[last+1:], all[:last+1]) {
		r.section = one
		err := one.read(ctx)
		r.part(err, one.domain)
		if errors.Is(err, errSpent) {
			r.leave(one.domain, 1, err)
		}
		ended := errors.Is(err, errSpent) || r.dead != nil
		cut = cut || ended && i > 0 // the first one that takes more than a pass has would hold up the others for ever
		if !cut {
			r.out.Turns.Section = one.key
		}
		cut = cut || ended
		r.settled(one, err)
	}
	r.floor = 0
}

// sectionsOf are the sections of a machine.
func (r *reader) sectionsOf(s *system) []section {
	var all []section
	for _, path := range r.chassisOf(s) {
		all = append(all,
			section{path + " cooling", rules.Cooling, func(ctx context.Context) error { return r.inChassis(ctx, path, r.cooling) }},
			section{path + " power", rules.Power, func(ctx context.Context) error { return r.inChassis(ctx, path, r.power) }})
	}
	return append(all,
		section{storageSection.key, rules.Storage, func(ctx context.Context) error { return r.storage(ctx, s.Storage) }},
		section{"memory", rules.Memory, func(ctx context.Context) error {
			return r.summary(ctx, rules.Memory, rules.Module, "Memory", s.MemorySummary, s.Memory)
		}},
		section{"processors", rules.Processor, func(ctx context.Context) error {
			return r.summary(ctx, rules.Processor, rules.CPU, "Processors", s.ProcessorSummary, s.Processors)
		}})
}

// group notes a group of parts of which something has to be read, now or in a later pass.
func (r *reader) group(key string) {
	known, here := r.out.Groups[key]
	if !here {
		known = r.options.Past.Groups[key]
	}
	known.Domain, known.Section = r.section.domain, r.section.key
	r.out.Groups[key] = known
}

// has notes what became of reading something of a group. That the BMC does not have it is
// an answer too.
func (r *reader) has(key string, err error) {
	group, known := r.out.Groups[key]
	switch {
	case !known || errors.Is(err, errSpent):
		return
	case err == nil, client.KindOf(err) == client.NotSupported:
		group.Read = true
	default:
		group.Why = err.Error()
	}
	r.out.Groups[key] = group
}

// settled ends a section, which is a group itself. The groups of one that was not read are
// those of before.
func (r *reader) settled(one section, err error) {
	if err != nil && client.KindOf(err) != client.NotSupported {
		for key, group := range r.options.Past.Groups {
			if _, known := r.out.Groups[key]; group.Section == one.key && !known {
				r.out.Groups[key] = group
			}
		}
	}
	r.group(one.key)
	r.has(one.key, err)
}
