package service

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

const (
	// maxAttempts bounds how often a unit of work is done before it is given up for
	// the moment. Its caller is then told to ask again.
	maxAttempts = 12
	// sharedAttempts is how often that is tried beside the units of others. Then it
	// has this program to itself, so that one of many is never the last.
	sharedAttempts = 3
	// conflictPause is the longest wait before a second attempt; it grows with each.
	conflictPause = 4 * time.Millisecond
)

// update does one unit of work. Where somebody else changed a record meanwhile,
// the whole work is done again, so f must have no effects outside of it.
func (h *Hub) update(ctx context.Context, f func(*work) error) error {
	for attempt := 1; ; attempt++ {
		w, err := h.attempt(ctx, f, attempt > sharedAttempts)
		switch {
		case err == nil:
			h.finished(w)
			return nil
		case !errors.Is(err, store.ErrConflict) || attempt == maxAttempts:
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
	}
}

// attempt does the work once and stores what came of it.
func (h *Hub) attempt(ctx context.Context, f func(*work) error, alone bool) (*work, error) {
	if alone {
		h.units.Lock()
		defer h.units.Unlock()
	} else {
		h.units.RLock()
		defer h.units.RUnlock()
	}
	var w *work
	var unit *store.Unit
	err := h.store.View(ctx, func(r *store.Reader) (err error) {
		w = newWork(ctx, h, r)
		if err := f(w); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		unit, err = w.finish()
		return err
	})
	if err != nil {
		return nil, err
	}
	return w, h.store.Commit(ctx, unit)
}

// finished does what follows once the unit is stored.
func (h *Hub) finished(w *work) {
	h.cache.Forget(w.unit.Changes) // announcements may take a moment, and the caller asks next
	for _, line := range w.lines {
		h.log.Info(line.message, line.args...)
	}
	for _, f := range w.after {
		if err := f(); err != nil {
			h.log.Warn("something was left behind", "error", err)
		}
	}
}

// pause waits for a random time, so that those who met do not meet again.
func pause(ctx context.Context, attempt int) error {
	timer := time.NewTimer(rand.N(conflictPause * time.Duration(attempt))) //nolint:gosec // it is no secret
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// view runs f over one state of the records.
func (h *Hub) view(ctx context.Context, f func(*store.Reader) error) error {
	return h.store.View(ctx, f)
}
