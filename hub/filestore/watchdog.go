package filestore

import (
	"context"
	"errors"
	"time"
)

// errStalled is the cause of a context that a watchdog has ended.
var errStalled = errors.New("no progress")

// watchdog ends a context when nothing has happened for too long, however long
// the whole takes: a server that hangs is given up, one that is slow is not.
type watchdog struct {
	ctx      context.Context
	cancel   context.CancelCauseFunc
	timer    *time.Timer
	patience time.Duration
}

func (s *S3) watch(ctx context.Context) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	dog := &watchdog{ctx: ctx, cancel: cancel, patience: s.patience}
	dog.timer = time.AfterFunc(s.patience, func() { cancel(errStalled) })
	return ctx, dog
}

// stir tells that something has happened.
func (w *watchdog) stir() { w.timer.Reset(w.patience) }

// rest stops the watch until something happens again.
func (w *watchdog) rest() { w.timer.Stop() }

// end ends the watch and the context.
func (w *watchdog) end() {
	w.timer.Stop()
	w.cancel(nil)
}

// Read implements [io.Reader] for the client, which calls it with each piece that
// it has taken from the file.
func (w *watchdog) Read(p []byte) (int, error) {
	w.stir()
	return len(p), nil
}
