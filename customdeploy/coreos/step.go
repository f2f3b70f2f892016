package coreos

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/coreosinstaller"
	"github.com/ironflow/ironflow/customdeploy/efiboot"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// Name is the step's name in Ironic.
const Name = "install_coreos"

// efiLabel is the name of the system in the firmware's boot menu.
const efiLabel = "CoreOS"

// retryAfter are the pauses before the second and the third try.
var retryAfter = []time.Duration{5 * time.Second, 20 * time.Second}

// errTotal is the cause of the step's own deadline.
var errTotal = errors.New("the installation took too long (total deadline)")

// Defaults are the step's deadlines; there is nothing to wait for at the start.
var Defaults = step.Deadlines{Idle: 10 * time.Minute, Total: time.Hour}

// Step installs CoreOS.
type Step struct {
	// Exec runs commands in the host's root.
	Exec hostexec.Exec
	// Installer runs coreos-installer there and hands over what it writes to both
	// streams; nil is Exec.
	Installer hostexec.Exec
	// Hostname is the host's present name.
	Hostname func() (string, error)
	// Alone tells whether another installer may be at work on the host, such as the
	// agent's; nil asks nobody.
	Alone func(ctx context.Context, host assisted.Host) error
}

// Definition is the step for the registry.
func (s *Step) Definition() step.Step {
	return step.Step{Name: Name, Interface: "deploy", Priority: 0, Args: step.DeadlineArgs, Run: s.Run}
}

// Run is the whole step: everything is checked before a disk is written.
func (s *Step) Run(ctx context.Context, req *step.Request) step.Report {
	r := s.run(ctx, req)
	if r.Outcome == step.Failed && ctx.Err() != nil {
		r.Outcome, r.Reason = step.Cancelled, "cancelled by "+context.Cause(ctx).Error()
	}
	return r
}

func (s *Step) run(ctx context.Context, req *step.Request) step.Report {
	limits, err := req.Deadlines(Defaults)
	if err != nil {
		return step.Report{Outcome: step.BadInput, Reason: err.Error()}
	}
	name, err := s.Hostname()
	if err != nil || hostname.Nameless(name) {
		name = ""
	}
	plan, err := NewPlan(req.Node, name)
	if err != nil {
		return step.Report{Outcome: step.BadInput, Reason: err.Error()}
	}
	host, err := assisted.OpenHost(req.Host)
	if err != nil {
		return failed(err)
	}
	unlock, err := host.Lock()
	if err != nil {
		return failed(err)
	}
	defer unlock()
	if s.Alone != nil {
		if err := s.Alone(ctx, host); err != nil {
			return failed(err)
		}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Total, errTotal)
	defer cancel()
	disk, err := s.choose(ctx, req, plan)
	if err != nil {
		return failed(err)
	}
	req.Log.Info("disk chosen", "disk", disk.Path, "why", disk.why, "warning", disk.warning)
	plan.KernelArgs = slices.Concat(disk.args, plan.KernelArgs)
	state, err := begin(host, req.Node.UUID)
	if err != nil {
		return failed(err)
	}
	began := time.Now()
	ready, err := s.makeReady(ctx, req, plan)
	if err != nil {
		return failed(err)
	}
	defer ready.close()
	unchanged := func(ctx context.Context) error { return s.unchanged(ctx, req, plan, &disk) }
	if err := unchanged(ctx); err != nil {
		return failed(err)
	}
	removed, err := s.clear(ctx, req, disk)
	if err != nil {
		return failed(err)
	}
	if err := s.write(ctx, req, ready, disk.Path, limits.Idle, unchanged); err != nil {
		return failed(err)
	}
	req.Progress("boot entry", 0, "")
	blockdev.Rescan(ctx, s.Exec, disk.Path, func(err error) { req.Log.Warn("the new partitions may not be known yet", "error", err) })
	entries, warning, err := s.bootEntries(ctx, req, disk)
	if err != nil {
		return failed(err)
	}
	warning = joined(plan.Warning, disk.warning, warning)
	marker := hostfile.Installed{
		BootID: state.BootID, InvocationID: state.InvocationID, NodeUUID: state.NodeUUID,
		Disk: disk.Path, ImageDigest: plan.HashValue, Time: time.Now().UTC(),
	}
	if err := req.Host.Write(hostfile.InstalledFile, marker); err != nil {
		return failed(fmt.Errorf("installed, but the done marker cannot be written: %w", err))
	}
	return step.Report{Outcome: step.Done, Reason: warning, Result: map[string]any{
		"outcome": "installed", "disk": disk.Path, "why": disk.why, "seconds": int(time.Since(began).Seconds()), "warning": warning,
		"removed_raids": removed, "boot_entries": entries,
	}}
}

// joined puts the warnings that there are into one line.
func joined(warnings ...string) string {
	return strings.Join(slices.DeleteFunc(warnings, func(w string) bool { return w == "" }), "; ")
}

// bootEntries puts the system into the firmware's boot menu. No firmware reads a
// software RAID: what IPA keeps beside it on each member, IPA fills and enters itself.
func (s *Step) bootEntries(ctx context.Context, req *step.Request, disk target) (by, warning string, err error) {
	if disk.IsRAID() {
		return "ipa", "", nil
	}
	menu := efiboot.Firmware{Exec: s.Exec, Host: req.Host, Label: efiLabel}
	warning, err = menu.First(ctx, disk.Path)
	return "step", warning, err
}

// clear makes the disk nobody else's: it deactivates volume groups and removes software
// RAIDs, unless the node keeps its disks as they are.
func (s *Step) clear(ctx context.Context, req *step.Request, disk target) (removed []string, err error) {
	keeps := keepsArrays(req.Node)
	err = letGo(ctx, s.Exec, disk.Path, !keeps, disk.kept, func(err error) { req.Log.Warn("LVM", "error", err) })
	if err != nil || keeps {
		return nil, err
	}
	return removeRAIDs(ctx, s.Exec, disk.Path, func(err error) { req.Log.Warn("a software RAID stays", "error", err) }, disk.kept...)
}

// begin leaves the record that confirm_install asks for. The step has no unit;
// a random id ties the marker to this run.
func begin(host assisted.Host, node string) (hostfile.StepState, error) {
	if err := host.ForgetEarlier(); err != nil {
		return hostfile.StepState{}, err
	}
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	state := hostfile.StepState{
		BootID: host.BootID(), NodeUUID: node, Step: Name, StartedAt: time.Now().UTC(), InvocationID: hex.EncodeToString(id),
	}
	return state, host.Write(hostfile.StepFile, state)
}

// write runs coreos-installer.
func (s *Step) write(ctx context.Context, req *step.Request, ready *ready, disk string, idle time.Duration, unchanged func(context.Context) error) error {
	installer := s.Installer
	if installer == nil {
		installer = s.Exec
	}
	run := coreosinstaller.Runner{
		Exec: installer, Disk: disk, Query: s.Exec, Idle: idle, Pauses: retryAfter, Again: unchanged,
		Progress: func(percent int, line string) { req.Progress("write image", percent, line) },
		Warn:     func(err error) { req.Log.Warn("coreos-installer failed; it is tried again", "error", err) },
	}
	req.Progress("write image", 0, "to "+disk)
	err := run.Install(ctx, ready.args(disk))
	cause := ready.imageFailure(err)
	if _, ran := errors.AsType[*coreosinstaller.Error](err); ran {
		err = fmt.Errorf("%s: %w", disk, err) // the installer's own reason seldom names it
	}
	return errors.Join(cause, err)
}

// failed maps an error to the outcome that it means.
func failed(err error) step.Report {
	r := step.Report{Outcome: step.Failed, Reason: err.Error()}
	switch {
	case errors.Is(err, coreosinstaller.ErrMissing), errors.Is(err, errNoImage):
		r.Outcome = step.ImageUnfit
	case errors.Is(err, coreosinstaller.ErrIdle), errors.Is(err, errTotal):
		r.Outcome = step.Deadline
	}
	if e, ok := errors.AsType[*coreosinstaller.Error](err); ok {
		for _, line := range e.Last {
			r.Detail = append(r.Detail, "coreos-installer: "+line)
		}
	}
	return r
}
