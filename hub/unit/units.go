package unit

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/ironflow/ironflow/hub/store"
)

// Units does units of work. Its members must not change once it is in use.
type Units struct {
	Store store.Store
	// Log takes the lines of units that were stored.
	Log *slog.Logger
	// Now is the clock.
	Now func() time.Time
	// Heard gives a record that was read the last sign of life of its host.
	Heard func(*store.Host)
	// Changed is told of each unit's changes before its caller goes on:
	// announcements may take a moment, and the caller asks next.
	Changed func([]store.Change)
	// Forgotten is told of each host and cluster whose record was removed, so that what
	// it left elsewhere goes, too. It may be nil; a failure is only logged.
	Forgotten func(store.Ref) error

	gate gate
	pace pace
}

const (
	// maxAttempts bounds how often a unit of work is done before it is given up for
	// the moment. Its caller is then told to ask again.
	maxAttempts = 12
	// conflictPause is the longest wait before a second attempt; it grows with each.
	conflictPause = 4 * time.Millisecond
)

// Update does one unit of work. Where somebody else changed a record meanwhile,
// the whole work is done again, so f must have no effects outside of it. Work whose
// caller has gone is not begun; what cannot be begun in time is refused with
// [apierror.BusyError].
func (u *Units) Update(ctx context.Context, f func(*Work) error) error {
	patient, stop := context.WithTimeoutCause(ctx, patience, errLate)
	defer stop()
	late := false
	u.pace.begin()
	defer func() { u.pace.end(!late && ctx.Err() == nil) }()
	err := u.update(ctx, patient, f)
	if late = errors.Is(err, errLate); late {
		return u.Later()
	}
	return err
}

// update does the unit; it waits for others as long as the patient context allows.
func (u *Units) update(ctx, patient context.Context, f func(*Work) error) error {
	mine := u.gate.join()
	for attempt := 1; ; {
		w, err := u.attempt(ctx, patient, f, mine)
		switch {
		case err == nil:
			u.finished(w)
			return nil
		case errors.Is(err, errBusy):
			continue
		case !errors.Is(err, store.ErrConflict) || attempt == maxAttempts:
			return err
		}
		if err := pause(ctx, attempt); err != nil {
			return err
		}
		attempt++
	}
}

// attempt does the work once and stores what came of it.
func (u *Units) attempt(ctx, patient context.Context, f func(*Work) error, mine *turn) (*Work, error) {
	if err := mine.enter(patient); err != nil {
		return nil, err
	}
	defer mine.leave()
	var w *Work
	var changes *store.Unit
	err := u.Store.View(ctx, func(r *store.Reader) (err error) {
		w = u.work(ctx, r)
		w.turn = mine
		if err := f(w); err != nil {
			return err
		}
		changes, err = w.finish()
		return err
	})
	switch {
	case mine.lacks != "": // whatever came of it
		return nil, errBusy
	case err != nil:
		return nil, err
	}
	if err := u.Store.Commit(ctx, changes); err != nil {
		return nil, err
	}
	u.Changed(w.unit.Changes)
	for _, f := range w.stored {
		f()
	}
	return w, nil
}

// finished does what follows once the unit is stored.
func (u *Units) finished(w *Work) {
	for _, line := range w.lines {
		u.Log.Info(line.message, line.args...)
	}
	for _, f := range w.after {
		if err := f(); err != nil {
			u.Log.Warn("something was left behind", "error", err)
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

// View runs f over one state of the records. What f changes is not stored.
func (u *Units) View(ctx context.Context, f func(*Work) error) error {
	return u.Store.View(ctx, func(r *store.Reader) error { return f(u.work(ctx, r)) })
}

// Text encodes values of the protocol, which cannot fail to encode.
func Text(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}
