// Package dryhost is a pretended host in a folder, on which the host agent runs as it is
// shipped, as a process in dry run: what the hub hears of it is the agent's own word. The
// main type is [Machine].
package dryhost

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

// Build compiles the agent into a folder and returns its path.
func Build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "ironflow-agent")
	out, err := exec.CommandContext(ctx, "go", "build", "-o", binary, "github.com/ironflow/ironflow/cmd/ironflow-agent").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the agent: %w\n%s", err, out)
	}
	return binary, nil
}

// Machine is a pretended host in a folder.
type Machine struct {
	Dir      hostfile.Dir
	Scenario *scenario.Scenario
	binary   string
}

// New makes a machine below root, on which the agent of that path runs, and boots it once.
func New(root, binary string, s *scenario.Scenario) (*Machine, error) {
	m := &Machine{Dir: hostfile.Dir{Root: root}, Scenario: s, binary: binary}
	if err := m.Save(); err != nil {
		return nil, err
	}
	return m, m.Boot()
}

// Save writes the scenario, which the agent reads at its start.
func (m *Machine) Save() error { return m.Scenario.Save(m.scenarioPath()) }

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

// Hub is the one that the machine's live image is of.
type Hub struct {
	URL string
	// CA is a file with what the agent trusts; empty for a hub without TLS.
	CA string
	// InfraEnv and Token are the image's.
	InfraEnv, Token string
}

// write puts a file into the host's root.
func (m *Machine) write(path string, raw []byte) error {
	root, err := os.OpenRoot(m.Dir.Root)
	if err != nil {
		return err
	}
	inside := strings.TrimPrefix(path, "/")
	return errors.Join(root.MkdirAll(filepath.Dir(inside), 0o755), root.WriteFile(inside, raw, 0o600), root.Close())
}

// Agent returns the command of the agent, as the unit of the live image runs it.
func (m *Machine) Agent(ctx context.Context, hub Hub) (*exec.Cmd, error) {
	args := []string{"agent", "--url", hub.URL, "--infra-env-id", hub.InfraEnv, "--agent-version", "ironflow-agent:test", "--insecure=false"}
	if hub.CA != "" {
		raw, err := os.ReadFile(hub.CA)
		if err != nil {
			return nil, err
		}
		if err := m.write(hostfile.HubCA, raw); err != nil {
			return nil, err
		}
		args = append(args, "--cacert", hostfile.HubCA)
	}
	cmd := exec.CommandContext(ctx, m.binary, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"),
		hostfile.RootEnv + "=" + m.Dir.Root,
		hubclient.TokenEnv + "=" + hub.Token,
		outcome.InvocationEnv + "=" + strings.ReplaceAll(uuid.NewString(), "-", ""),
		dryrun.EnableEnv + "=true",
		dryrun.ScenarioEnv + "=" + m.scenarioPath(),
	}
	return cmd, nil
}

// ExitCode is that of an ended command, -1 for a signal.
func ExitCode(err error) (int, error) {
	if err == nil {
		return 0, nil
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, fmt.Errorf("the agent did not run: %w", err)
}
