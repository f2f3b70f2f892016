package coreos

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/assisted"
	"github.com/ironflow/ironflow/customdeploy/hostname"
	"github.com/ironflow/ironflow/customdeploy/step"
)

// Name is the step's name in Ironic.
const Name = "install_coreos"

// Defaults are the step's deadlines; there is nothing to wait for at the start.
var Defaults = step.Deadlines{Idle: 10 * time.Minute, Total: time.Hour}

// Step installs CoreOS.
type Step struct {
	// Exec runs commands in the host's root.
	Exec Exec
	// Hostname is the host's present name.
	Hostname func() (string, error)

	hasFallback bool
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
	ctx, cancel := context.WithTimeoutCause(ctx, limits.Total, errTotal)
	defer cancel()
	disks, err := Disks(ctx, s.Exec, req.Host)
	if err != nil {
		return failed(fmt.Errorf("list the disks: %w", err))
	}
	disk, why, err := plan.Hints.Choose(disks)
	if err != nil {
		return failed(err)
	}
	req.Log.Info("disk chosen", "disk", disk.Path, "why", why)
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
	removed, err := s.clear(ctx, req, disk.Path)
	if err != nil {
		return failed(err)
	}
	if err := s.write(ctx, req, ready, disk.Path, limits.Idle); err != nil {
		return failed(err)
	}
	req.Progress("boot entry", 0, "")
	s.rescan(ctx, req, disk.Path)
	warning, err := s.bootEntry(ctx, req.Host, disk.Path)
	if err != nil {
		return failed(err)
	}
	marker := hostfile.Installed{
		BootID: state.BootID, InvocationID: state.InvocationID, NodeUUID: state.NodeUUID,
		Disk: disk.Path, ImageDigest: plan.HashValue, Time: time.Now().UTC(),
	}
	if err := req.Host.Write(hostfile.InstalledFile, marker); err != nil {
		return failed(fmt.Errorf("installed, but the done marker cannot be written: %w", err))
	}
	return step.Report{Outcome: step.Done, Reason: warning, Result: map[string]any{
		"outcome": "installed", "disk": disk.Path, "why": why, "seconds": int(time.Since(began).Seconds()), "warning": warning,
		"removed_raids": removed,
	}}
}

// clear removes software RAIDs, unless the node keeps its disks as they are.
func (s *Step) clear(ctx context.Context, req *step.Request, disk string) (removed []string, err error) {
	if clean := req.Node.AutomatedClean; clean != nil && !*clean {
		return nil, nil
	}
	return removeRAIDs(ctx, s.Exec, disk, func(err error) { req.Log.Warn("a software RAID stays", "error", err) })
}

// rescanTime bounds what is only of use.
const rescanTime = time.Minute

// rescan makes the kernel and udev see the new partitions. coreos-installer has
// done it, but not for whoever held the disk open then.
func (s *Step) rescan(ctx context.Context, req *step.Request, disk string) {
	ctx, cancel := context.WithTimeoutCause(ctx, rescanTime, fmt.Errorf("no end in %v", rescanTime))
	defer cancel()
	for _, argv := range [][]string{{"blockdev", "--rereadpt", disk}, {"udevadm", "settle"}} {
		if _, err := output(ctx, s.Exec, argv...); err != nil {
			req.Log.Warn("the new partitions may not be known yet", "error", err)
		}
	}
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
func (s *Step) write(ctx context.Context, req *step.Request, ready *ready, disk string, idle time.Duration) error {
	run := runner{
		exec: s.Exec, idle: idle,
		progress: func(percent int, line string) { req.Progress("write image", percent, line) },
		warn:     func(err error) { req.Log.Warn("coreos-installer failed; it is tried again", "error", err) },
	}
	req.Progress("write image", 0, "to "+disk)
	err := run.install(ctx, ready.args(disk))
	return errors.Join(ready.imageFailure(err), err)
}

// failed maps an error to the outcome that it means.
func failed(err error) step.Report {
	r := step.Report{Outcome: step.Failed, Reason: err.Error()}
	switch {
	case errors.Is(err, errNoInstaller), errors.Is(err, errNoImage):
		r.Outcome = step.ImageUnfit
	case errors.Is(err, errIdle), errors.Is(err, errTotal):
		r.Outcome = step.Deadline
	}
	if e, ok := errors.AsType[*installError](err); ok {
		for _, line := range e.last {
			r.Detail = append(r.Detail, "coreos-installer: "+line)
		}
	}
	return r
}
