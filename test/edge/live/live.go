// Package live makes a booted systemd a host that has booted the image of an agent-based
// installation: it has the files and units of the image's Ignition and the programs as they
// are shipped, and systemd starts what the image enables. What such a host has no hardware
// for is pretended: see [Pretend].
package live

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/test/liveimage"
	"github.com/ironflow/ironflow/test/systemd/booted"
)

// scenarioFile describes the hardware that is pretended.
const scenarioFile = "/etc/ironflow/scenario.yaml"

// Programs are where the programs of an image are here.
type Programs struct {
	// Hub is ironflow, of which only a host with a hub has any use; empty leaves it out.
	Agent, AgentBased, Hub string
}

// Install gives the machine what the image brings. Nothing is started.
func Install(m *booted.Machine, config *liveimage.Decoded, p Programs) error {
	for _, f := range config.Files {
		if err := put(m, f.Path, f.Data, 0o600); err != nil {
			return err
		}
	}
	for _, u := range config.Units {
		if err := put(m, hostfile.UnitDir+"/"+u.Name, []byte(u.Contents), 0o600); err != nil {
			return err
		}
	}
	for to, from := range map[string]string{hostfile.AgentBinary: p.Agent, units.Binary: p.AgentBased, units.HubBinary: p.Hub} {
		if from == "" {
			continue
		}
		raw, err := os.ReadFile(from)
		if err == nil {
			err = put(m, to, raw, 0o755)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Pretend has the machine's agent find the hardware of the scenario, and pretend to install.
func Pretend(ctx context.Context, m *booted.Machine, s *scenario.Scenario) error {
	_, err := m.Run(ctx, "mount", "-t", "tmpfs", "firmware", "/sys/class")
	return errors.Join(
		err,
		put(m, "/sys/class/dmi/id/board_serial", []byte(s.Hardware.System.Serial+"\n"), 0o600),
		put(m, scenarioFile, nil, 0o600), s.Save(m.Host.Path(scenarioFile)),
		put(m, hostfile.UnitDir+"/"+hostfile.AgentUnit+".d/10-dry-run.conf", []byte("[Service]\nEnvironment=DRY_ENABLE=true DRY_SCENARIO="+scenarioFile+"\n"), 0o600),
	)
}

// Start has systemd start what is enabled in the image of the workflow, as a boot does.
func Start(ctx context.Context, m *booted.Machine, workflow units.Workflow) error {
	table, err := units.Render(units.Options{Workflow: workflow})
	if err != nil {
		return err
	}
	words := []string{"start", "--no-block"}
	for _, u := range table {
		if u.Enabled {
			words = append(words, u.Name)
		}
	}
	if _, err := m.Run(ctx, "systemctl", "daemon-reload"); err != nil {
		return err
	}
	_, err = m.Run(ctx, "systemctl", words...)
	return err
}

// put writes a file of the machine.
func put(m *booted.Machine, path string, content []byte, mode os.FileMode) error {
	path = m.Host.Path(path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, content, mode) //nolint:gosec // below the machine's root, and by an image of ours
}
