package machine

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/machine/host"
	"github.com/ironflow/ironflow/test/machine/plugin"
	"github.com/ironflow/ironflow/test/systemd/standin"
)

// newPlugin is Ironflow's IPA plugin for one life of IPA on the machine. It runs
// the real ironflow-step, as processes of its own.
func newPlugin(m *Machine) *plugin.Manager {
	return plugin.New(plugin.Options{
		Program: m.runStep,
		Begins: func(step string) (ends func()) {
			m.update(func(status *Status) { status.Step = step })
			return func() {
				m.keepDisk()
				m.update(func(status *Status) { status.Step = "" })
			}
		},
		Progress: func(line plugin.Line) {
			m.update(func(status *Status) { status.Stage, status.Percent, status.Text = line.Stage, line.Percent, line.Text })
			m.restartFault(line.Stage)
		},
		Log: m.log,
	})
}

// stepProgram is where the live system finds the step program: its own, or the lab's.
func (m *Machine) stepProgram() string {
	own := m.root.Path(hostfile.StepBinary)
	if info, err := os.Stat(own); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
		return own
	}
	return filepath.Join(m.fleet.options.BinDir, filepath.Base(hostfile.StepBinary))
}

func (m *Machine) stepLog() string { return filepath.Join(m.dir, "step.log") }

// runStep runs the program in the machine. Its log goes to the machine's step.log and to more.
func (m *Machine) runStep(ctx context.Context, argument string, stdin []byte, line func([]byte), more io.Writer) error {
	log, err := os.OpenFile(m.stepLog(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	return m.fleet.starter.Run(ctx, m.root.Root, host.Command{
		Path: m.stepProgram(), Args: []string{argument}, Stdin: stdin, Line: line, Log: io.MultiWriter(log, more),
		Env: []string{standin.BinEnv + "=" + m.fleet.options.BinDir},
	})
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
