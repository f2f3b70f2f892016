package service

import (
	"context"

	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// events are what happened, as stored, and a feed of changes as they are stored ([events.Subscribe]). All methods are
// safe for concurrent use.
type events struct{ units *settle.Units }

// Events returns those that are selected and how many events there
// are of each severity.
func (ev *events) Events(ctx context.Context, f store.EventFilter) (wire.EventList, map[string]int, error) {
	out := wire.EventList{}
	found, counts, err := ev.Numbered(ctx, f)
	for _, e := range found {
		out = append(out, e.Event)
	}
	return out, counts, err
}

// Numbered returns the same with the number of each event, by which the next page is found.
func (ev *events) Numbered(ctx context.Context, f store.EventFilter) (found []store.Event, counts map[string]int, err error) {
	err = ev.units.View(ctx, func(w *settle.Work) (err error) {
		found, counts, err = w.Reader.Events(f)
		return err
	})
	return found, counts, err
}

// AddEvent appends an event that somebody else saw, see [checkEvent].
func (ev *events) AddEvent(ctx context.Context, e wire.Event) error {
	if e.EventTime.IsZero() {
		e.EventTime = wire.At(ev.units.Now())
	}
	if err := checkEvent(e, ev.units.Now()); err != nil {
		return err
	}
	return ev.units.Store.Commit(ctx, &store.Unit{Events: []wire.Event{e}})
}
