package assisted

import (
	"reflect"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
)

// maxKeptText bounds the status text in the step file.
const maxKeptText = 1024

// keep writes the step file when the observation has moved on, so that a restart
// of IPA begins no deadline anew. Without it the step goes on all the same.
func (f *follower) keep() {
	if err := f.save(); err != nil {
		f.log.Warn("the step file could not be written", "error", err)
	}
}

func (f *follower) save() error {
	state := f.state
	f.obs.store(&state, f.uptime(), time.Now())
	if reflect.DeepEqual(state, f.state) && f.saved {
		return nil
	}
	if err := f.host.Write(hostfile.StepFile, state); err != nil {
		return err
	}
	f.state, f.saved = state, true
	return nil
}

// moments pairs the clocks with their places in the step file.
func (c *Clocks) moments(kept *hostfile.StepClocks) map[*time.Time]*int64 {
	return map[*time.Time]*int64{
		&c.Begun: &kept.Begun, &c.Starting: &kept.Starting, &c.Sign: &kept.Sign, &c.Installing: &kept.Installing,
		&c.Stage: &kept.Stage, &c.Marked: &kept.Marked, &c.Deactivating: &kept.Deactivating,
	}
}

// store puts what a later program needs into the state. A moment keeps the
// milliseconds that were stored for it before: computed again, they may differ by one.
func (o *Observation) store(state *hostfile.StepState, uptime time.Duration, now time.Time) {
	since := func(t time.Time) int64 { return (uptime - now.Sub(t)).Milliseconds() }
	for at, kept := range o.Clocks.moments(&state.Clocks) {
		switch {
		case at.IsZero():
			*kept = 0
		case differs(since(*at), *kept):
			*kept = since(*at)
		}
	}
	state.Clocks.Excluded = o.Clocks.Excluded.Milliseconds()
	if len(o.Clocks.Restarts) != len(state.Clocks.Restarts) {
		state.Clocks.Restarts = nil
		for _, t := range o.Clocks.Restarts {
			state.Clocks.Restarts = append(state.Clocks.Restarts, since(t))
		}
	}
	state.Seen = hostfile.StepSeen{
		ActiveState: o.Unit.ActiveState, SubState: o.Unit.SubState, NRestarts: o.Unit.NRestarts,
		StatusText: strings.ToValidUTF8(o.Unit.StatusText[:min(len(o.Unit.StatusText), maxKeptText)], ""),
		Status:     o.Status,
	}
}

func differs(a, b int64) bool { return a < b-1 || a > b+1 }

// restore takes up what an earlier program of this boot has stored.
func (o *Observation) restore(state hostfile.StepState, uptime time.Duration) {
	moment := func(ms int64) time.Time {
		return o.Now.Add(-max(0, uptime-time.Duration(ms)*time.Millisecond))
	}
	for at, kept := range o.Clocks.moments(&state.Clocks) {
		if *kept > 0 {
			*at = moment(*kept)
		}
	}
	for _, ms := range state.Clocks.Restarts {
		o.Clocks.Restarts = append(o.Clocks.Restarts, moment(ms))
	}
	o.Clocks.Excluded = time.Duration(state.Clocks.Excluded) * time.Millisecond
	o.Unit.ActiveState, o.Unit.SubState, o.Unit.NRestarts = state.Seen.ActiveState, state.Seen.SubState, state.Seen.NRestarts
	o.Unit.InvocationID, o.Unit.StatusText = state.InvocationID, state.Seen.StatusText
	if text := state.Seen.StatusText; text != "" {
		o.LastText, o.Status = text, state.Seen.Status
	}
}
