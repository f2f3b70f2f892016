package steps

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// workers is how many steps run at once.
	workers = 6
	// longWorkers is how many of them may have a deadline beyond longStep, so
	// that pulled images and probed disks do not hold back an inventory.
	longWorkers = 3
	longStep    = 2 * time.Minute
)

// maxReplyError bounds the error text of a reply.
const maxReplyError = 4 << 10

// Dispatcher starts steps and passes their replies on. Make it with [NewDispatcher].
type Dispatcher struct {
	// Media, if set, tells before a step and after a failed one whether the boot
	// medium can be read; its error is the step's failure with [ExitMedia].
	Media func() error

	registry Registry
	reply    func(wire.StepReply)
	log      *slog.Logger

	mu     sync.Mutex
	runs   map[wire.StepType]*run // waiting and running, one for each type
	queue  []*run                 // waiting, in the order in which they came
	busy   int                    // workers at work
	long   int                    // those of them with a long step
	active int                    // runs that are not answered yet
	idle   chan struct{}          // closed while there are none
}

// run is one run of a step, from its request to its end.
type run struct {
	runner Runner
	step   wire.Step // the newest request with the run's arguments; its id is answered
	// next is the newest request when that has other arguments: what runs does not
	// answer it, so it is run afterwards.
	next   *request
	ctx    context.Context
	cancel context.CancelCauseFunc
	ended  chan struct{}
	// worker is true while the run counts among the busy ones.
	worker bool
}

// request is a step with the context that bounds it.
type request struct {
	ctx  context.Context
	step wire.Step
}

func (r *run) isLong() bool { return r.runner.Deadline > longStep }

// NewDispatcher returns a dispatcher; reply must not block.
func NewDispatcher(registry Registry, reply func(wire.StepReply), log *slog.Logger) *Dispatcher {
	d := &Dispatcher{registry: registry, reply: reply, log: log, runs: map[wire.StepType]*run{}, idle: make(chan struct{})}
	close(d.idle)
	return d
}

// Dispatch starts the step, lets it wait for a worker, lets the run of its type
// that is under way answer for it, or, where that was begun with other
// arguments, lets it follow that run. It does not block. The context bounds the
// run; it may outlive the caller.
func (d *Dispatcher) Dispatch(ctx context.Context, step wire.Step) {
	runner, ok := d.registry[step.StepType]
	if !ok {
		d.answer(step.StepType, step.StepID, Failed(ExitBad, "step type %q is not known to this agent", step.StepType))
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if current, ok := d.runs[step.StepType]; ok {
		d.renew(ctx, current, step)
		return
	}
	d.enqueue(ctx, runner, step)
}

// renew makes the request the newest of its type. The lock is held.
func (d *Dispatcher) renew(ctx context.Context, current *run, step wire.Step) {
	switch {
	case slices.Contains(d.queue, current): // not begun yet: the newest arguments count
		current.step = step
	case slices.Equal(current.step.Args, step.Args):
		current.step.StepID, current.next = step.StepID, nil
	default:
		current.next = &request{ctx: ctx, step: step}
	}
}

// enqueue adds a run, and begins it if there is a worker. The lock is held.
func (d *Dispatcher) enqueue(ctx context.Context, runner Runner, step wire.Step) {
	if d.active++; d.active == 1 {
		d.idle = make(chan struct{})
	}
	r := &run{runner: runner, step: step, ended: make(chan struct{})}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	d.runs[step.StepType] = r
	d.queue = append(d.queue, r)
	d.start()
}

// start begins all waiting runs that there are workers for. The lock is held.
func (d *Dispatcher) start() {
	d.queue = slices.DeleteFunc(d.queue, func(r *run) bool {
		if !r.runner.HandsOver {
			if d.busy == workers || (r.isLong() && d.long == longWorkers) {
				return false
			}
			d.work(r, 1)
		}
		go d.run(r)
		return true
	})
}

// work counts a worker for the run, or gives it back. The lock is held.
func (d *Dispatcher) work(r *run, by int) {
	r.worker = by > 0
	d.busy += by
	if r.isLong() {
		d.long += by
	}
}

// free gives the run's worker to the next one.
func (d *Dispatcher) free(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.worker {
		d.work(r, -1)
		d.start()
	}
}

// leave makes room for the next run of the type, begins it if one was asked for,
// and returns the id to answer.
func (d *Dispatcher) leave(r *run) (id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.runs, r.step.StepType)
	if next := r.next; next != nil && next.ctx.Err() == nil {
		d.enqueue(next.ctx, r.runner, next.step)
	}
	return r.step.StepID
}

// done ends a run, after its answer.
func (d *Dispatcher) done(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.end(r)
}

// end ends a run. The lock is held.
func (d *Dispatcher) end(r *run) {
	r.cancel(nil)
	close(r.ended)
	if d.active--; d.active == 0 {
		close(d.idle)
	}
}

func (d *Dispatcher) id(r *run) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return r.step.StepID
}

// Wait waits until no step runs or waits, or the context ends.
func (d *Dispatcher) Wait(ctx context.Context) {
	d.mu.Lock()
	idle := d.idle
	d.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

func (d *Dispatcher) answer(kind wire.StepType, id string, r Result) {
	if r.Silent {
		return
	}
	if len(r.Error) > maxReplyError {
		r.Error = strings.ToValidUTF8(r.Error[:maxReplyError], "") + " …"
	}
	if r.Exit != 0 {
		d.log.Warn("step failed", "step", kind, "exit", r.Exit, "error", r.Error)
	}
	d.reply(wire.StepReply{StepType: kind, StepID: id, ExitCode: r.Exit, Output: r.Output, Error: r.Error})
}
