package timeline

import (
	"context"

	"github.com/ironflow/ironflow/hub/refusal"
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
	var counts map[string]int
	err := t.units.View(ctx, func(w *settle.Work) error {
		found, n, err := w.Reader.Events(f)
		counts = n
		for _, e := range found {
			out = append(out, e.Event)
		}
		return err
	})
	return out, counts, err
}

// AddEvent appends an event that somebody else saw.
func (t *Timeline) AddEvent(ctx context.Context, e wire.Event) error { return Add(ctx, t.units, e) }

// Add appends an event that belongs to no unit of work.
func Add(ctx context.Context, units *settle.Units, e wire.Event) error {
	if e.Message == "" || e.Severity == "" {
		return refusal.BadRequest("an event needs a message and a severity")
	}
	if e.EventTime.IsZero() {
		e.EventTime = wire.At(units.Now())
	}
	return units.Store.Commit(ctx, &store.Unit{Events: []wire.Event{e}})
}
