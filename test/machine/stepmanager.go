package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
	"github.com/ironflow/ironflow/test/systemd/standin"
)

// stepManager plays Ironflow's IPA plugin: it lists the steps of the real
// ironflow-step and runs them in the machine, as processes of their own.
type stepManager struct {
	m *Machine
	// list asks the program once in a life of IPA.
	list func() ([]ipa.Step, error)
}

func newStepManager(m *Machine) *stepManager {
	s := &stepManager{m: m}
	s.list = sync.OnceValues(s.ask)
	return s
}

// Name and Version are the plugin's.
func (*stepManager) Name() string    { return "IronflowHardwareManager" }
func (*stepManager) Version() string { return "1" }

// program is where the live system finds the step program: its own, or the lab's.
func (s *stepManager) program() string {
	own := s.m.root.Path(hostfile.StepBinary)
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return own
	}
	return filepath.Join(s.m.fleet.options.BinDir, filepath.Base(hostfile.StepBinary))
}

func (m *Machine) stepLog() string { return filepath.Join(m.dir, "step.log") }

// run runs the program in the machine. Its log goes to the machine's step.log,
// and to more unless that is nil.
func (s *stepManager) run(ctx context.Context, argument string, stdin []byte, line func([]byte), more *tail) error {
	log, err := os.OpenFile(s.m.stepLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	var logs io.Writer = log
	if more != nil {
		logs = io.MultiWriter(log, more)
	}
	return s.m.fleet.starter.Run(ctx, s.m.root.Root, host.Command{
		Path: s.program(), Args: []string{argument}, Stdin: stdin, Line: line, Log: logs,
		Env: []string{standin.BinEnv + "=" + s.m.fleet.options.BinDir},
	})
}

func (s *stepManager) ask() ([]ipa.Step, error) {
	var out bytes.Buffer
	err := s.run(context.Background(), "list", nil, func(line []byte) { out.Write(append(line, '\n')) }, nil)
	if err != nil {
		return nil, fmt.Errorf("%s list: %w", s.program(), err)
	}
	var steps []ipa.Step
	if err := json.Unmarshal(out.Bytes(), &steps); err != nil {
		return nil, fmt.Errorf("%s list: %w", s.program(), err)
	}
	return steps, nil
}

// Steps implements ipa.Manager. A program that does not work leaves its steps
// out, and the others stay: cleaning must be possible then.
func (s *stepManager) Steps(_ context.Context, kind ipa.Kind) ([]ipa.Step, error) {
	if kind != ipa.Deploy {
		return nil, nil
	}
	steps, err := s.list()
	if err != nil {
		s.m.log.Error("no deploy steps of Ironflow", "error", err)
		return nil, nil
	}
	return steps, nil
}

// Run implements ipa.Manager.
func (s *stepManager) Run(ctx context.Context, call ipa.Call) (any, error) {
	steps, err := s.list()
	if err != nil || call.Kind != ipa.Deploy || !lists(steps, call.Step) {
		return nil, errors.Join(fmt.Errorf("step %s: %w", call.Step, errors.ErrUnsupported), err)
	}
	stdin, err := json.Marshal(map[string]any{"node": call.Node, "ports": call.Ports, "args": call.Args})
	if err != nil {
		return nil, err
	}
	call.BeatAtEnd()
	s.m.update(func(status *Status) { status.Step = call.Step })
	defer s.m.update(func(status *Status) { status.Step = "" })
	defer s.m.keepDisk()
	running := &runningStep{manager: s, call: call, beats: newBeats(call.Node, time.Now())}
	err = s.run(ctx, call.Step, stdin, func(line []byte) { running.line(ctx, line) }, &running.stderr)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return stepResult(call.Step, running.last, err, running.stderr.lines())
}

// runningStep is one run of the step program.
type runningStep struct {
	manager *stepManager
	call    ipa.Call
	beats   *beats
	// last is the report at the end, stderr what it logged.
	last   step.Report
	stderr tail
}

// line takes one line of the program: progress, or the report at the end.
func (r *runningStep) line(ctx context.Context, raw []byte) {
	m := r.manager.m
	var line struct {
		Stage   string `json:"stage"`
		Percent int    `json:"percent"`
		Text    string `json:"text"`
		step.Report
	}
	if json.Unmarshal(raw, &line) != nil {
		m.log.Warn("the step program wrote a line that is not JSON")
		return
	}
	if line.Outcome != "" {
		r.last = line.Report
		return
	}
	m.update(func(status *Status) { status.Stage, status.Percent, status.Text = line.Stage, line.Percent, line.Text })
	m.restartFault(line.Stage)
	if heardByHub[r.call.Step] {
		return
	}
	if message, due := r.beats.message(time.Now(), line.Stage, line.Percent, line.Text); due {
		if err := r.call.Beat(ctx, message); err != nil {
			m.log.Warn("progress did not reach Ironic", "error", err)
		}
	}
}

// restartFault switches the machine off and on behind everybody's back, if the
// scenario says so for this stage or for any.
func (m *Machine) restartFault(stage string) {
	for _, at := range []string{stage, ""} {
		if _, ok, err := m.faults.Take(scenario.FaultRestart, at); ok || err != nil {
			m.log.Warn("the machine restarts by itself", "stage", stage, "error", err)
			m.power(Restart)
			return
		}
	}
}

// maxTail is how much of a program's log is kept for its failure, in bytes.
const maxTail = 64 << 10

// tail keeps the end of what is written to it.
type tail struct{ raw []byte }

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.raw = append(t.raw, p...)
	t.raw = t.raw[max(0, len(t.raw)-maxTail):]
	return len(p), nil
}

func (t *tail) lines() []string {
	text := strings.TrimSpace(strings.ToValidUTF8(string(t.raw), "\uFFFD"))
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}
