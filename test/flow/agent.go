// Package flow holds tests that let several programs of Ironflow work together
// for real: here the host agent, as a process, and a hub with its REST API and
// store. No part is a double; only the machine is pretended, by a scenario.
package flow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outcome"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Machine is a pretended host in a folder, on which the real agent runs.
type Machine struct {
	Dir      hostfile.Dir
	Scenario *scenario.Scenario
	binary   string
}

// NewMachine makes a machine below root and boots it once.
func NewMachine(root, binary string, s *scenario.Scenario) (*Machine, error) {
	m := &Machine{Dir: hostfile.Dir{Root: root}, Scenario: s, binary: binary}
	if err := s.Save(m.scenarioPath()); err != nil {
		return nil, err
	}
	return m, m.Boot()
}

func (m *Machine) scenarioPath() string { return filepath.Join(m.Dir.Root, "scenario.yaml") }

// Boot gives the machine a new boot id and an empty /run, and lets a deploy step begin.
func (m *Machine) Boot() error {
	boot := m.Dir.Path(hostfile.BootIDPath())
	id := uuid.NewString()
	return errors.Join(
		os.RemoveAll(m.Dir.Path(hostfile.RunDir)),
		os.MkdirAll(filepath.Dir(boot), 0o755),
		os.WriteFile(boot, []byte(id+"\n"), 0o600),
		m.Dir.Write(hostfile.StepFile, hostfile.StepState{BootID: id, NodeUUID: "node-of-" + m.Scenario.Name}),
	)
}

// Agent returns the command of the agent, as the unit of the live image runs it.
func (m *Machine) Agent(ctx context.Context, hubURL, ca, infraEnv, token string) (*exec.Cmd, error) {
	raw, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	inside := m.Dir.Path(hostfile.HubCA)
	if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o755), os.WriteFile(inside, raw, 0o600)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, m.binary, "agent", "--url", hubURL, "--infra-env-id", infraEnv,
		"--agent-version", "ironflow-agent:test", "--insecure=false", "--cacert", hostfile.HubCA)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		hostfile.RootEnv + "=" + m.Dir.Root,
		hubclient.TokenEnv + "=" + token,
		outcome.InvocationEnv + "=" + strings.ReplaceAll(uuid.NewString(), "-", ""),
		dryrun.EnableEnv + "=true",
		dryrun.ScenarioEnv + "=" + m.scenarioPath(),
	}
	return cmd, nil
}

// ExitCode is the exit code of an ended command, -1 for a signal.
func ExitCode(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, fmt.Errorf("the agent did not run: %w", err)
}
