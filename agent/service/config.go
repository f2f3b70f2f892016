// Package service is the program agent: it registers the host, polls the hub,
// runs its steps and the installation, and ends with an exit code that says how it
// went. It connects the packages around it; [Run] is its only entry point. Signals
// and the service manager are left to the process: one process may run many
// agents, each with a root directory of its own.
package service

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/dryrun"
	"github.com/ironflow/ironflow/agent/handover"
	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install/bootstrap"
	"github.com/ironflow/ironflow/agent/install/container"
	"github.com/ironflow/ironflow/agent/install/coreos"
	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Config is what the command line and the environment say.
type Config struct {
	// URL is the hub's base URL.
	URL string
	// InfraEnvID is where the host registers.
	InfraEnvID string
	// HostID, when set, is polled for without a registration (next_step_runner).
	HostID string
	// AgentVersion is this agent's image reference.
	AgentVersion string
	// Interval is the delay between failed registrations.
	Interval time.Duration
	// CACert is a PEM file below the root; Insecure switches certificate checks off.
	CACert   string
	Insecure bool
	// Dir is the host's root directory, Dry the dry run. No two agents share a Dir.
	Dir hostfile.Dir
	Dry dryrun.Settings

	// Installer says which installer carries out orders; empty means by the order's image.
	Installer container.Policy
	// Commands starts programs, and Units is the host's systemd; nil means the real ones.
	Commands command.Runner
	Units    Units
	// Started, if set, is told of every program that the real runner starts.
	Started func(c command.Command)
	// FaultPoint, if set, is told right before and after each effect of an
	// installation; tests end the process there.
	FaultPoint func(point string)

	// Order, if set, is carried out at once for HostID, without a registration and
	// without polls: the program installer.
	Order *wire.InstallCmdRequest

	// Token is the agent's secret; nil means none.
	Token *hubclient.Token
	// Notify sends to the service manager of the process; nil sends nothing.
	Notify func(state string) error
	// Polled, if set, is told of each answered poll and how long it took.
	Polled func(took time.Duration)
	// Image hands the process over to the agent of another image; the zero value
	// stays what it is.
	Image handover.Handover

	Log *slog.Logger
	// OwnLog returns the newest lines of the agent's log.
	OwnLog func() []byte
}

// Units is what the agent needs of the host's systemd.
type Units interface {
	coreos.Units
	bootstrap.Units
}

// Check reports everything that is missing or wrong.
func (c Config) Check() error {
	var errs []error
	if u, err := url.Parse(c.URL); c.URL == "" || err != nil || u.Host == "" {
		errs = append(errs, errors.New("--url: want the hub's base URL, e.g. https://hub.example:8090"))
	}
	errs = append(errs, c.Installer.Check())
	if _, err := uuid.Parse(c.InfraEnvID); err != nil {
		errs = append(errs, fmt.Errorf("--infra-env-id %q is not a UUID", c.InfraEnvID))
	}
	if c.HostID != "" {
		if _, err := uuid.Parse(c.HostID); err != nil {
			errs = append(errs, fmt.Errorf("--host-id %q is not a UUID", c.HostID))
		}
	}
	if c.Interval <= 0 {
		errs = append(errs, errors.New("--interval must be at least 1 second"))
	}
	return errors.Join(errs...)
}

// identify returns the function that computes the host's id.
func identify(c Config, machine *scenario.Scenario) func() (string, error) {
	switch {
	case c.Dry.Enabled && c.Dry.HostID != "":
		return func() (string, error) { return c.Dry.HostID, nil }
	case machine != nil && machine.HostID != "":
		return func() (string, error) { return machine.HostID, nil }
	case machine != nil:
		sources := pretendedSources(machine)
		return func() (string, error) { return hostid.Of(sources) }
	default:
		return func() (string, error) { return hostid.Of(hostid.Read(c.Dir)) }
	}
}

func pretendedSources(s *scenario.Scenario) hostid.Sources {
	sources := hostid.Sources{BoardSerial: s.Hardware.System.BoardSerial, ProductUUID: s.Hardware.System.UUID}
	if sources.BoardSerial == "" {
		sources.BoardSerial = s.Hardware.System.Serial
	}
	for _, nic := range s.Hardware.NICs {
		sources.MACs = append(sources.MACs, strings.ToLower(nic.MAC))
	}
	return sources
}

// resolveDevice finds the block device behind a path below /dev of the host.
func resolveDevice(dir hostfile.Dir) func(string) (string, error) {
	return func(path string) (string, error) {
		target, err := filepath.EvalSymlinks(dir.Path(path))
		if err != nil {
			return "", fmt.Errorf("%s does not exist on this host", path)
		}
		info, err := os.Stat(target)
		if err != nil || info.Mode()&os.ModeDevice == 0 || info.Mode()&os.ModeCharDevice != 0 {
			return "", fmt.Errorf("%s is not a block device", path)
		}
		return target, nil
	}
}
