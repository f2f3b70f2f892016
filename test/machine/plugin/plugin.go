// Package plugin is Ironflow's plugin for the simulated machines' agent: it lists
// the steps of ironflow-step, runs them, and sends its heartbeats. The plugin for
// the real ironic-python-agent is customdeploy/ipa; package test/ipa/contract
// holds both to the same cases.
package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// Bounds of the program's list of its steps.
const (
	listTime  = 30 * time.Second
	listBytes = 1 << 20
)

// heardByHub are the steps whose agent the hub hears itself; heartbeats would
// only cost Ironic time.
var heardByHub = map[string]bool{names.StartAssistedInstall: true, names.ConfirmInstall: true}

// Program runs ironflow-step with one argument to its end. It hands each line of
// standard output to line, and standard error to log.
type Program func(ctx context.Context, argument string, stdin []byte, line func([]byte), log io.Writer) error

// Options is what a plugin needs. Program and Log must be set.
type Options struct {
	Program Program
	// AllProgress sends the progress of steps that the hub hears itself, too (IRONFLOW_PROGRESS).
	AllProgress bool
	// Begins is told that a step begins, and returns what is told its end; nil: nobody.
	Begins func(step string) (ends func())
	// Progress is told each line; nil: nobody.
	Progress func(Line)
	Log      *slog.Logger
}

// Manager is the plugin. It implements [ipa.Manager].
type Manager struct {
	options Options
	mu      sync.Mutex
	steps   []ipa.Step
	// movedOn ends the heartbeats behind an earlier step's end.
	movedOn context.CancelFunc
}

// New returns a plugin that has asked nothing yet.
func New(o Options) *Manager {
	if o.Begins == nil {
		o.Begins = func(string) func() { return func() {} }
	}
	if o.Progress == nil {
		o.Progress = func(Line) {}
	}
	return &Manager{options: o, movedOn: func() {}}
}

// Name is the real plugin's.
func (*Manager) Name() string { return "IronflowHardwareManager" }

// Version is the real plugin's.
func (*Manager) Version() string { return "1" }

// Steps implements [ipa.Manager]. A program that does not work leaves its steps
// out, and the others stay: cleaning must be possible then.
func (m *Manager) Steps(ctx context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	if kind != ipa.Deploy {
		return nil, nil
	}
	steps, err := m.list(ctx)
	if err != nil {
		m.options.Log.Error("no deploy steps of Ironflow", "error", err)
	}
	return steps, nil
}

// list asks the program until it has answered once.
func (m *Manager) list(ctx context.Context) ([]ipa.Step, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.steps != nil {
		return m.steps, nil
	}
	ctx, done := context.WithTimeout(ctx, listTime)
	defer done()
	var out bytes.Buffer
	tooLong := false
	take := func(line []byte) {
		if tooLong = tooLong || out.Len()+len(line) > listBytes; !tooLong {
			out.Write(append(line, '\n'))
		}
	}
	if err := m.options.Program(ctx, "list", nil, take, io.Discard); err != nil {
		return nil, fmt.Errorf("ironflow-step list: %w", err)
	}
	if tooLong {
		return nil, fmt.Errorf("ironflow-step list: more than %d bytes", listBytes)
	}
	var steps []ipa.Step
	if err := json.Unmarshal(out.Bytes(), &steps); err != nil {
		return nil, fmt.Errorf("ironflow-step list: %w", err)
	}
	m.steps = steps
	return steps, nil
}

// Run implements [ipa.Manager].
func (m *Manager) Run(ctx context.Context, call ipa.Call) (any, error) {
	steps, err := m.list(ctx)
	if err != nil || call.Kind != ipa.Deploy || !lists(steps, call.Step) {
		return nil, errors.Join(fmt.Errorf("step %s: %w", call.Step, errors.ErrUnsupported), err)
	}
	stdin, err := json.Marshal(map[string]any{"node": call.Node, "ports": call.Ports, "args": call.Args})
	if err != nil {
		return nil, err
	}
	m.movedOn()
	defer m.options.Begins(call.Step)()
	defer m.afterStep(ctx, call.Beat)
	running := &runningStep{manager: m}
	if m.options.AllProgress || !heardByHub[call.Step] {
		running.progress = newProgress(call.Node, time.Now(), m.options.Log)
		defer running.progress.start(ctx, call.Beat)()
	}
	err = m.options.Program(ctx, call.Step, stdin, running.line, &running.stderr)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return result(call.Step, running.report, err, running.stderr.lines())
}

func lists(steps []ipa.Step, name string) bool {
	for _, s := range steps {
		if s.Name == name {
			return true
		}
	}
	return false
}

// runningStep is one run of the step program.
type runningStep struct {
	manager *Manager
	// progress makes heartbeats of lines; nil: the hub hears them.
	progress *progress
	// report is the last line, stderr what it logged.
	report step.Report
	stderr tail
}

// line takes one line of the program: progress, or the report at the end.
func (r *runningStep) line(raw []byte) {
	var line struct {
		Line
		step.Report
	}
	if json.Unmarshal(raw, &line) != nil {
		r.manager.options.Log.Warn("the step program wrote a line that is not of its protocol")
		return
	}
	if line.Outcome != "" {
		r.report = line.Report
		return
	}
	r.manager.options.Progress(line.Line)
	if r.progress != nil {
		r.progress.take(line.Line)
	}
}
