package machine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd/standin"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/ipa"
)

// maxReason bounds the text of a failed step, in bytes.
const maxReason = 2 << 10

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

// run runs the program in the machine.
func (s *stepManager) run(ctx context.Context, argument string, stdin []byte, line func([]byte)) error {
	log, err := os.OpenFile(s.m.stepLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	return s.m.fleet.starter.Run(ctx, s.m.root.Root, host.Command{
		Path: s.program(), Args: []string{argument}, Stdin: stdin, Line: line, Log: log,
		Env: []string{standin.BinEnv + "=" + s.m.fleet.options.BinDir},
	})
}

func (s *stepManager) ask() ([]ipa.Step, error) {
	var out bytes.Buffer
	err := s.run(context.Background(), "list", nil, func(line []byte) { out.Write(append(line, '\n')) })
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
	var last step.Report
	err = s.run(ctx, call.Step, stdin, func(line []byte) { s.line(line, &last) })
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return result(call.Step, last, err)
}

// line takes one line of the program: progress, or the report at the end.
func (s *stepManager) line(raw []byte, last *step.Report) {
	var line struct {
		Stage   string `json:"stage"`
		Percent int    `json:"percent"`
		Text    string `json:"text"`
		step.Report
	}
	if json.Unmarshal(raw, &line) != nil {
		s.m.log.Warn("the step program wrote a line that is not JSON")
		return
	}
	if line.Outcome != "" {
		*last = line.Report
		return
	}
	s.m.update(func(status *Status) { status.Stage, status.Percent, status.Text = line.Stage, line.Percent, line.Text })
	s.restartFault(line.Stage)
}

// restartFault switches the machine off and on behind everybody's back, if the
// scenario says so for this stage or for any.
func (s *stepManager) restartFault(stage string) {
	for _, at := range []string{stage, ""} {
		if _, ok, err := s.m.faults.Take(scenario.FaultRestart, at); ok || err != nil {
			s.m.log.Warn("the machine restarts by itself", "stage", stage, "error", err)
			s.m.power(Restart)
			return
		}
	}
}

// result is what the plugin makes of the program's end.
func result(name string, last step.Report, err error) (any, error) {
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil && last.Outcome == step.Done:
		return last.Result, nil
	case last.Outcome != "":
		return nil, ipa.ErrDeployment(cut(strings.Join(append([]string{last.Reason}, last.Detail...), "\n")))
	case exited:
		return nil, ipa.ErrDeployment(fmt.Sprintf("ironflow-step %s crashed: %s, without a last line; see step.log", name, exit.ProcessState))
	case err != nil:
		return nil, ipa.ErrDeployment(fmt.Sprintf("ironflow-step %s did not start: %v", name, err))
	default:
		return nil, ipa.ErrDeployment(fmt.Sprintf("ironflow-step %s ended without a last line", name))
	}
}

func cut(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason-len("…")], "") + "…"
}
