// Package confirm is the deploy step confirm_install: it proves that the
// installation which Ironic is about to count as done was done in this boot.
//
// Ironic runs it by itself right after start_assisted_install and
// install_coreos, because the ramdisk lists it with priority 79; it runs too in
// the fresh ramdisk of a machine that was restarted in mid step, and fails
// there. It changes nothing on the host except that, after a restart of IPA
// alone, it follows the agent that still runs.
package confirm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/coreos"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/systemd"
)

const (
	// Name is the step's name in Ironic.
	Name = "confirm_install"
	// Priority puts the step right behind the installing steps, which Ironic runs with 80.
	Priority = 79
)

// confirmed are the steps that must have left a marker.
var confirmed = []string{assisted.Name, coreos.Name}

// Step confirms installations.
type Step struct {
	// Units is the host's systemd.
	Units systemd.Manager
	// Assisted follows an agent that still runs.
	Assisted *assisted.Step
	// Bootable tells whether the firmware will find a system on the disk; an error
	// means that this cannot be found out. Nil looks at nothing.
	Bootable func(ctx context.Context, host hostfile.Dir, disk string) (bool, error)
}

// lookTime bounds the look at disk and firmware.
const lookTime = time.Minute

// Definition is the step for the registry.
func (s *Step) Definition() step.Step {
	return step.Step{Name: Name, Interface: "deploy", Priority: Priority, Args: map[string]step.Argument{}, Run: s.Run}
}

// Run is the whole step.
func (s *Step) Run(ctx context.Context, req *step.Request) step.Report {
	if !asked(req.Node) {
		return step.Report{Outcome: step.Done, Result: map[string]any{"outcome": "nothing to confirm"}}
	}
	host, err := assisted.OpenHost(req.Host)
	if err != nil {
		return failed("%v", err)
	}
	state, ofThisBoot, err := host.State()
	if err != nil && !errors.Is(err, hostfile.ErrNoState) {
		return failed("the step file cannot be read, so nothing proves the installation: %v", err)
	}
	if !ofThisBoot {
		return failed("this boot has no record of an installation step: the machine was restarted during the installation; deploy it again")
	}
	if state.NodeUUID != "" && req.Node.UUID != "" && state.NodeUUID != req.Node.UUID {
		return failed("the installation of this boot was for node %s, not for %s", state.NodeUUID, req.Node.UUID)
	}
	if m, ok := host.Marker(state.InvocationID); ok {
		return s.done(ctx, req, state, m)
	}
	if state.Step != assisted.Name {
		return failed("%s has left no done marker in this boot: it did not come to its end", state.Step)
	}
	unit, err := s.Units.Unit(ctx, hostfile.AgentUnit)
	if err != nil {
		return failed("no done marker, and systemd cannot be asked: %v", err)
	}
	if m, ok := host.Marker(unit.InvocationID); ok {
		return s.done(ctx, req, state, m)
	}
	if !unit.Ended() {
		req.Log.Info("the agent still runs: following it", "since", state.StartedAt)
		return s.Assisted.Follow(ctx, req, host, state, unit)
	}
	return s.Assisted.Explain(ctx, req, host, state, unit)
}

// asked tells whether Ironic's list of deploy steps has one that needs a
// confirmation. A node without such a list is confirmed: better a failure than
// an aborted installation that counts as done.
func asked(node step.Node) bool {
	list, ok := node.DriverInternalInfo["deploy_steps"].([]any)
	if !ok {
		return true
	}
	return slices.ContainsFunc(list, func(item any) bool {
		entry, _ := item.(map[string]any)
		name, _ := entry["step"].(string)
		return slices.Contains(confirmed, name)
	})
}

// done confirms a marker, once something on the disk can be booted: installers
// make their own boot entry and ignore what comes of it.
func (s *Step) done(ctx context.Context, req *step.Request, state hostfile.StepState, m hostfile.Installed) step.Report {
	warning := ""
	if s.Bootable != nil {
		ctx, cancel := context.WithTimeoutCause(ctx, lookTime, fmt.Errorf("no answer in %v", lookTime))
		defer cancel()
		switch found, err := s.Bootable(ctx, req.Host, m.Disk); {
		case err != nil:
			warning = fmt.Sprintf("installed, but whether the firmware finds the system on %s is not known: %v", m.Disk, err)
			req.Log.Warn("the boot menu was not checked", "disk", m.Disk, "error", err)
		case !found:
			return failed("installed, but the machine would not boot it: the firmware has no boot entry for %s, and the disk has no fall-back loader (\\EFI\\BOOT)", m.Disk)
		}
	}
	return step.Report{Outcome: step.Done, Reason: warning, Result: map[string]any{
		"outcome":       "confirmed",
		"step":          state.Step,
		"disk":          m.Disk,
		"image_digest":  m.ImageDigest,
		"invocation_id": m.InvocationID,
		"installed_at":  m.Time.UTC().Format(time.RFC3339),
		"warning":       warning,
	}}
}

func failed(format string, args ...any) step.Report {
	return step.Report{Outcome: step.Failed, Reason: fmt.Sprintf(format, args...)}
}
