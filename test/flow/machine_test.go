package flow_test

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

// machine is a pretended host in a folder, on which the real agent runs.
type machine struct {
	dir      hostfile.Dir
	scenario *scenario.Scenario
	binary   string
}

// Newmachine makes a machine below root and boots it once.
func bootMachine(root, binary string, s *scenario.Scenario) (*machine, error) {
	m := &machine{dir: hostfile.Dir{Root: root}, scenario: s, binary: binary}
	if err := s.Save(m.scenarioPath()); err != nil {
		return nil, err
	}
	return m, m.boot()
}

func (m *machine) scenarioPath() string { return filepath.Join(m.dir.Root, "scenario.yaml") }

// boot gives the machine a new boot id and an empty /run, and lets a deploy step begin.
func (m *machine) boot() error {
	boot := m.dir.Path(hostfile.BootIDPath())
	id := uuid.NewString()
	return errors.Join(
		os.RemoveAll(m.dir.Path(hostfile.RunDir)),
		os.MkdirAll(filepath.Dir(boot), 0o755),
		os.WriteFile(boot, []byte(id+"\n"), 0o600),
		m.dir.Write(hostfile.StepFile, hostfile.StepState{BootID: id, NodeUUID: "node-of-" + m.scenario.Name}),
	)
}

// agent returns the command of the agent, as the unit of the live image runs it.
func (m *machine) agent(ctx context.Context, hubURL, ca, infraEnv, token string) (*exec.Cmd, error) {
	raw, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	inside := m.dir.Path(hostfile.HubCA)
	if err := errors.Join(os.MkdirAll(filepath.Dir(inside), 0o755), os.WriteFile(inside, raw, 0o600)); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, m.binary, "agent", "--url", hubURL, "--infra-env-id", infraEnv,
		"--agent-version", "ironflow-agent:test", "--insecure=false", "--cacert", hostfile.HubCA)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		hostfile.RootEnv + "=" + m.dir.Root,
		hubclient.TokenEnv + "=" + token,
		outcome.InvocationEnv + "=" + strings.ReplaceAll(uuid.NewString(), "-", ""),
		dryrun.EnableEnv + "=true",
		dryrun.ScenarioEnv + "=" + m.scenarioPath(),
	}
	return cmd, nil
}

// exitCodeOf is the exit code of an ended command, -1 for a signal.
func exitCodeOf(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, fmt.Errorf("the agent did not run: %w", err)
}
