// Package steps runs the steps that the hub asks for: a table from step type to
// its runner. Each type runs at most once at a time, within its deadline; a
// repeated request is answered by the run that is under way; a panic is one
// failed reply and nothing more. What a step does is not known here.
package steps

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Exit codes inside step replies, as hubs read them.
const (
	// ExitBad is for bad arguments, unknown types and internal failures.
	ExitBad = -1
	// ExitPull means that an image could not be pulled.
	ExitPull = 2
	// ExitTimeout means that the step's own time limit ran out.
	ExitTimeout = 124
	// ExitRunning means that an installation is already under way.
	ExitRunning = 125
	// ExitMedia means that the installation media cannot be read any more.
	ExitMedia = 256
)

// Result is what a step answers.
type Result struct {
	// Exit is one of the Exit constants, or 0.
	Exit int64
	// Output is the JSON of the type's model, or text.
	Output string
	// Error is the reason, its first line short and without log text.
	Error string
	// Silent results are not sent to the hub.
	Silent bool
}

// Silent is the result of a step that has nothing to say now.
var Silent = Result{Silent: true}

// JSON is a successful result with the model as output.
func JSON(model any) Result {
	raw, err := json.Marshal(model)
	if err != nil {
		return Failed(ExitBad, "encode the result: %v", err)
	}
	return Result{Output: string(raw)}
}

// Text is a successful result with free text.
func Text(text string) Result { return Result{Output: text} }

// Failed is a failed result with its reason.
func Failed(exit int64, format string, args ...any) Result {
	return Result{Exit: exit, Error: fmt.Sprintf(format, args...)}
}

// Runner runs one type of step.
type Runner struct {
	// Deadline bounds a run. A runner that does not heed its context is
	// answered for with 124 and stays the one run of its type.
	Deadline time.Duration
	// Run validates the arguments and does the step.
	Run func(ctx context.Context, args []string) Result
}

// Registry maps step types to runners.
type Registry map[wire.StepType]Runner

// grace is what a runner gets after its deadline to answer by itself.
const grace = 3 * time.Second

// maxReplyError bounds the error text of a reply.
const maxReplyError = 4 << 10

// Dispatcher starts steps and hands their replies on. Make it with [NewDispatcher].
type Dispatcher struct {
	// Media, if set, tells before a step and after a failed one whether the boot
	// medium can be read; its error is the step's failure with [ExitMedia].
	Media func() error

	registry Registry
	reply    func(wire.StepReply)
	log      *slog.Logger

	mu      sync.Mutex
	running map[wire.StepType]*run
	all     sync.WaitGroup
}

type run struct{ id string }

// NewDispatcher returns a dispatcher; reply must not block.
func NewDispatcher(registry Registry, reply func(wire.StepReply), log *slog.Logger) *Dispatcher {
	return &Dispatcher{registry: registry, reply: reply, log: log, running: map[wire.StepType]*run{}}
}

// Dispatch starts the step, or lets the running one of its type answer for it.
// The context bounds the run; it may outlive the caller.
func (d *Dispatcher) Dispatch(ctx context.Context, step wire.Step) {
	runner, ok := d.registry[step.StepType]
	if !ok {
		d.answer(step.StepType, step.StepID, Failed(ExitBad, "step type %q is not known to this agent", step.StepType))
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if current, ok := d.running[step.StepType]; ok {
		current.id = step.StepID
		return
	}
	current := &run{id: step.StepID}
	d.running[step.StepType] = current
	d.all.Go(func() { d.run(ctx, runner, step, current) })
}

// Wait waits until no step runs, or the context ends.
func (d *Dispatcher) Wait(ctx context.Context) {
	done := make(chan struct{})
	go func() { d.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// errDeadline is the cause of a step's end by its own limit.
var errDeadline = errors.New("the step's time limit ran out")

func (d *Dispatcher) run(ctx context.Context, runner Runner, step wire.Step, current *run) {
	start := time.Now()
	ctx, cancel := context.WithTimeoutCause(ctx, runner.Deadline, errDeadline)
	defer cancel()
	results := make(chan Result, 1)
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		results <- d.checked(ctx, runner, step)
	}()
	var result Result
	timer := time.NewTimer(runner.Deadline + grace)
	defer timer.Stop()
	select {
	case result = <-results:
	case <-timer.C:
		result = Failed(ExitTimeout, "%s did not end within %s", step.StepType, runner.Deadline)
		d.answer(step.StepType, d.id(current), result)
		<-finished // a second run beside a stuck one would only be a second stuck one
		d.forget(step.StepType)
		return
	}
	if result.Exit != 0 && errors.Is(context.Cause(ctx), errDeadline) {
		result = Failed(ExitTimeout, "%s did not end within %s: %s", step.StepType, runner.Deadline, result.Error)
	}
	d.log.Debug("step ended", "step", step.StepType, "exit", result.Exit, "took", time.Since(start).Round(time.Millisecond))
	d.forget(step.StepType)
	d.answer(step.StepType, d.id(current), result)
}

// guarded runs the step and turns a panic into a failed result.
func guarded(ctx context.Context, runner Runner, step wire.Step, log *slog.Logger) (result Result) {
	defer func() {
		if p := recover(); p != nil {
			log.Error("a step panicked", "step", step.StepType, "panic", p, "stack", string(debug.Stack()))
			result = Failed(ExitBad, "%s: internal failure: %v", step.StepType, p)
		}
	}()
	return runner.Run(ctx, step.Args)
}

// checked runs the step between two looks at the boot medium.
func (d *Dispatcher) checked(ctx context.Context, runner Runner, step wire.Step) Result {
	if err := d.media(); err != nil {
		return Failed(ExitMedia, "%v", err)
	}
	result := guarded(ctx, runner, step, d.log)
	if result.Exit == 0 {
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

func (d *Dispatcher) id(r *run) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return r.id
}

func (d *Dispatcher) forget(kind wire.StepType) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.running, kind)
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
