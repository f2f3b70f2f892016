// Package status tells on the rendezvous host what an agent-based installation waits for:
// services that are not active, settings of hosts that could not be applied, and where to
// look at the installation. The main type is [Program].
package status

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/agentbased/units"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	every = 5 * time.Second
	// maxFailures bounds what is read of the failures.
	maxFailures = 64 << 10
	// shown is how many lines of them a screen of 24 lines bears.
	shown = 8
)

// Services are those that an installation needs, in the order in which they start.
func Services(addNodes bool) []string {
	if addNodes {
		return []string{units.HubUnit, units.ImportClusterUnit, units.RegisterInfraEnvUnit, units.HostConfigUnit, units.AddNodeUnit}
	}
	return []string{units.HubUnit, units.RegisterClusterUnit, units.RegisterInfraEnvUnit, units.HostConfigUnit, units.StartClusterUnit}
}

// Units tells the properties of units.
type Units interface {
	Unit(ctx context.Context, unit string) (systemd.Properties, error)
}

// Program looks every few seconds.
type Program struct {
	Dir     hostfile.Dir
	Units   Units
	Console *messages.Console
	Log     *slog.Logger
}

// Run looks until the context ends.
func (p Program) Run(ctx context.Context) error {
	for {
		p.services(ctx)
		p.failures(ctx)
		p.page(ctx)
		if err := pause.For(ctx, every); err != nil {
			return err
		}
	}
}

// services tells which services are not active, and how they are instead.
func (p Program) services(ctx context.Context) {
	var waiting []string
	for _, name := range Services(places.Exists(p.Dir, places.AddNodes)) {
		u, err := p.Units.Unit(ctx, name)
		if err != nil {
			p.Log.WarnContext(ctx, "a unit cannot be looked at", "unit", name, "error", err)
			waiting = append(waiting, name+": "+err.Error())
			continue
		}
		if state := inWords(u); state != "" {
			waiting = append(waiting, name+": "+state)
		}
	}
	if len(waiting) == 0 {
		p.Console.Clear(ctx, messages.SlotServices)
		return
	}
	p.Console.Show(ctx, messages.ServicesWaiting, "\n  "+strings.Join(waiting, "\n  "))
}

// inWords says what is with a unit that is not active; empty for one that is, or that has
// done its work.
func inWords(u systemd.Properties) string {
	switch {
	case !u.Loaded():
		return "its unit is " + u.LoadState
	case u.ActiveState == "active":
		return ""
	case u.SubState == "auto-restart":
		return strings.TrimSuffix(fmt.Sprintf("failed and starts again; it %s", u.EndInWords()), "; it ")
	case u.ActiveState == "activating":
		return "at work"
	case u.ActiveState == "failed":
		return strings.TrimSuffix("failed: it "+u.EndInWords(), ": it ")
	case u.ActiveState == "inactive" && u.ExecMainCode == systemd.Exited && u.Result == "success":
		return ""
	default:
		return "not started"
	}
}

// failures tells which settings of hosts could not be applied.
func (p Program) failures(ctx context.Context) {
	text, err := p.readFailures()
	if err != nil {
		p.Log.WarnContext(ctx, "the failures of hosts' settings cannot be read", "error", err)
		return
	}
	if text == "" {
		p.Console.Clear(ctx, messages.SlotHostConfig)
		return
	}
	lines := strings.Split(text, "\n")
	if len(lines) > shown {
		lines = append(lines[:shown], fmt.Sprintf("and %d more, in %s", len(lines)-shown, places.HostConfigFailures))
	}
	p.Console.Show(ctx, messages.HostConfigFailed, "\n  "+strings.Join(lines, "\n  "))
}

func (p Program) readFailures() (string, error) {
	f, err := os.Open(p.Dir.Path(places.HostConfigFailures))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	raw, err := io.ReadAll(io.LimitReader(f, maxFailures))
	return strings.TrimSpace(string(raw)), err
}

// page tells where people look at the installation.
func (p Program) page(ctx context.Context) {
	values, err := places.ReadEnv(p.Dir, places.RendezvousHost)
	if err != nil || values[places.UIURL] == "" {
		p.Console.Clear(ctx, messages.SlotUI)
		return
	}
	p.Console.Show(ctx, messages.UIAvailable, values[places.UIURL])
}
