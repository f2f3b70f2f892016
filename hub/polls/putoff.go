package polls

import (
	"context"
	"hash/fnv"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/snapshots"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// A hub that is behind asks less of hosts that it has evaluated: with all checks of all hosts again and again, 10,000
// hosts that boot together leave no time on one core for those that come last (storm_s of `make bench-hub CORES=1`).
const (
	// repeatsBehind is how far it may be behind before checks are put off whose results it has.
	repeatsBehind = time.Second
	// checksBehind is the same for checks without a result. It leaves room for what brings a host further: its
	// registration and its inventory, which are never put off here.
	checksBehind = 3 * time.Second
	// turnLasts is at least as long as the longest pause between two polls. Within so many turns, each host has one
	// in which it is asked for everything, however far the hub is behind.
	turnLasts = instructions.BackedOff
	turns     = 5
)

// putOff leaves checks out of what the host is told next, as far as the hub is behind. A host that has nothing to do
// then comes back after the longest pause, and [Answerer.Pause] spreads those that do.
func (d *Answerer) putOff(steps wire.Steps, s *snapshots.Host, now time.Time) wire.Steps {
	behind := d.behind()
	if behind <= repeatsBehind || isTurn(s.Key, now) {
		return steps
	}
	kept := slices.DeleteFunc(slices.Clone(steps.Instructions), func(step wire.Step) bool {
		return repeats(s, step) || behind > checksBehind && step.StepType != wire.StepTypeInventory && recurs(step)
	})
	if len(kept) == len(steps.Instructions) {
		return steps
	}
	soon := time.Duration(steps.NextInstructionSeconds)*time.Second < instructions.Attentive // it is on its way to an installation
	if steps.Instructions = kept; len(kept) == 0 && !soon {
		steps.NextInstructionSeconds = int64(instructions.BackedOff / time.Second)
	}
	return steps
}

// isTurn reports whether the host is asked for everything at the moment.
func isTurn(key store.HostKey, now time.Time) bool {
	name := fnv.New64a()
	_, _ = name.Write([]byte(key.HostID)) // it never fails
	return (name.Sum64()>>1+uint64(now.Unix()/int64(turnLasts/time.Second)))%turns == 0
}

// OnlyRepeats reports whether all that the host is asked for are checks whose results are known: a reply that is told
// to come later is asked for again, and nobody waits for it.
func (d *Answerer) OnlyRepeats(ctx context.Context, key store.HostKey) bool {
	s, err := d.Snapshot(ctx, key)
	return err == nil && len(s.Steps.Instructions) > 0 && !slices.ContainsFunc(s.Steps.Instructions, func(step wire.Step) bool { return !repeats(s, step) })
}

// recurs reports whether the step is a check that comes again.
func recurs(step wire.Step) bool { return slices.Contains(instructions.Recurring, step.StepType) }

// repeats reports whether the step is a check that comes again, and whose result is known.
func repeats(s *snapshots.Host, step wire.Step) bool {
	_, known := s.Results[step.StepType]
	return known && recurs(step)
}
