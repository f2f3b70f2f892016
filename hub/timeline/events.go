package timeline

import (
	"context"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Timeline is the events of the hub. All methods are safe for concurrent use.
type Timeline struct{ units *settle.Units }

// New makes it.
func New(units *settle.Units) *Timeline { return &Timeline{units} }

// Events returns the selected part of the timeline and how many events there
// are of each severity.
func (t *Timeline) Events(ctx context.Context, f store.EventFilter) (wire.EventList, map[string]int, error) {
	out := wire.EventList{}
	found, counts, err := t.Numbered(ctx, f)
	for _, e := range found {
		out = append(out, e.Event)
	}
	return out, counts, err
}

// Numbered returns the same with the number of each event, by which the next page is found.
func (t *Timeline) Numbered(ctx context.Context, f store.EventFilter) (found []store.Event, counts map[string]int, err error) {
	err = t.units.View(ctx, func(w *settle.Work) (err error) {
		found, counts, err = w.Reader.Events(f)
		return err
	})
	return found, counts, err
}

// AddEvent appends an event that somebody else saw, see [check].
func (t *Timeline) AddEvent(ctx context.Context, e wire.Event) error {
	if e.EventTime.IsZero() {
		e.EventTime = wire.At(t.units.Now())
	}
	if err := check(e, t.units.Now()); err != nil {
		return err
	}
	return t.units.Store.Commit(ctx, &store.Unit{Events: []wire.Event{e}})
}
