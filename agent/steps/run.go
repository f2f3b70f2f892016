package steps

import (
	"context"
	"errors"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// grace is what a runner gets to answer by itself after its context has ended.
const grace = 3 * time.Second

// errDeadline is the cause of a step's end by its own limit.
var errDeadline = errors.New("the step's time limit ran out")

// run runs a step to its end and answers for it. A runner that heeds neither
// deadline nor cancellation loses its worker, but stays the one run of its type:
// a second one beside a stuck one would only be a second stuck one.
func (d *Dispatcher) run(r *run) {
	start := time.Now()
	kind, args := r.step.StepType, r.step.Args
	ctx, cancel := context.WithTimeoutCause(r.ctx, r.runner.Deadline, errDeadline)
	defer cancel()
	results := make(chan Result, 1)
	go func() { results <- d.checked(ctx, r.runner, kind, args) }()
	result, stuck := await(ctx, r.runner.Deadline, kind, results)
	d.free(r)
	if stuck {
		d.answer(kind, d.id(r), result)
		<-results
		d.leave(r)
		d.done(r)
		return
	}
	d.log.Debug("step ended", "step", kind, "exit", result.Exit, "took", time.Since(start).Round(time.Millisecond))
	d.answer(kind, d.leave(r), result)
	d.done(r)
}

// await waits for the result, at most until some time after the context's end;
// stuck means that the runner has not ended.
func await(ctx context.Context, limit time.Duration, kind wire.StepType, results <-chan Result) (result Result, stuck bool) {
	select {
	case result = <-results:
	case <-ctx.Done():
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case result = <-results:
		case <-timer.C:
			stuck, result = true, Failed(ExitBad, "%s did not end when it was told to: %v", kind, context.Cause(ctx))
		}
	}
	cause := context.Cause(ctx)
	switch {
	case result.Exit == 0:
	case errors.Is(cause, errDeadline):
		result = Failed(ExitTimeout, "%s did not end within %s: %s", kind, limit, result.Error)
	case cause != nil: // cancelled: that it did not come to its end says nothing of the host
		result = Silent
	}
	return result, stuck
}

// guarded runs the step and turns a panic into a failed result.
func guarded(ctx context.Context, runner Runner, kind wire.StepType, args []string, log *slog.Logger) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a step panicked", "step", kind, "panic", p, "stack", string(debug.Stack()))
			result = Failed(ExitBad, "%s: internal failure: %v", kind, p)
		}
	}()
	return runner.Run(ctx, args)
}

// checked runs the step between two looks at the boot medium.
func (d *Dispatcher) checked(ctx context.Context, runner Runner, kind wire.StepType, args []string) Result {
	if err := d.media(); err != nil {
		return Failed(ExitMedia, "%v", err)
	}
	result := guarded(ctx, runner, kind, args, d.log)
	if result.Exit == 0 || result.Silent {
		return result
	}
	if err := d.media(); err != nil {
		return Failed(ExitMedia, "%v; before that: %s", err, result.Error)
	}
	return result
}

func (d *Dispatcher) media() error {
	if d.Media == nil {
		return nil
	}
	return d.Media()
}
