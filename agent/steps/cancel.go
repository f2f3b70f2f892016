package steps

import (
	"context"
	"slices"

	"github.com/ironflow/ironflow/hub/wire"
)

// Cancel ends the runs of the types for which is says so: those that wait are
// dropped, those that run are told the cause by their context. A cancelled run
// is not answered unless it succeeds all the same: the hub has gone on. Cancel
// does not wait for the runs to end.
func (d *Dispatcher) Cancel(cause error, is func(wire.StepType) bool) {
	d.cancel(cause, is)
}

// Stop is [Dispatcher.Cancel] for one type, and waits for its end; the error is
// the context's when that came first.
func (d *Dispatcher) Stop(ctx context.Context, cause error, kind wire.StepType) error {
	for _, r := range d.cancel(cause, func(k wire.StepType) bool { return k == kind }) {
		select {
		case <-r.ended:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

func (d *Dispatcher) cancel(cause error, is func(wire.StepType) bool) []*run {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queue = slices.DeleteFunc(d.queue, func(r *run) bool {
		if !is(r.step.StepType) {
			return false
		}
		d.log.Info("a step that was asked for is moot; it is not begun", "step", r.step.StepType, "reason", cause)
		delete(d.runs, r.step.StepType)
		d.end(r)
		return true
	})
	var running []*run
	for kind, r := range d.runs {
		if is(kind) {
			d.log.Info("a step is moot; it is cancelled", "step", kind, "reason", cause)
			r.next = nil
			r.cancel(cause)
			running = append(running, r)
		}
	}
	return running
}
