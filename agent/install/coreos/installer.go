// Package coreos is the installer that changes the machine: it fetches the host's
// Ignition from the hub, cleans the disks that the order names, lets coreos-installer
// write the image, and puts the system into the firmware's boot
// menu. [Installer] makes the graph of tasks; everything that changes something is
// a named effect. What a bootstrap host does besides is package bootstrap's.
package coreos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/efiboot"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/systemd"
	"github.com/ironflow/ironflow/hub/wire"
)

// Hub is what the installer asks the hub for.
type Hub interface {
	HostIgnition(ctx context.Context, h hubclient.Host) ([]byte, error)
	ClusterFile(ctx context.Context, clusterID, name string) ([]byte, error)
	ClusterHosts(ctx context.Context, clusterID string) ([]wire.Host, error)
}

// Units is what it needs of the host's systemd.
type Units interface {
	Unit(ctx context.Context, unit string) (systemd.Properties, error)
	// Reboot restarts the machine after a delay.
	Reboot(ctx context.Context, delay time.Duration) error
}

// Installer installs the machine that it runs on. All fields must be set.
type Installer struct {
	// Dir is the host's root.
	Dir      hostfile.Dir
	Commands command.Runner
	Hub      Hub
	Units    Units
	// Resolve finds the device of an order's name again.
	Resolve install.Resolve
	Effects *effect.Recorder
	Log     *slog.Logger
	// Bootstrap, if set, gives the tasks of the bootstrap role; the names of those
	// that the writing of the disk must wait for come with them.
	Bootstrap func(ctx context.Context, job install.Job, single bool) (tasks []install.Task, before []string, err error)
}

var _ install.Installer = (*Installer)(nil)

// Names of tasks.
const (
	checkDisk        = "check-disk"
	fetchIgnition    = "fetch-ignition"
	completeIgnition = "complete-ignition"
	cleanDisks       = "clean-disks"
	writeImage       = "write-image"
	bootEntry        = "boot-entry"
	waitControlPlane = "wait-control-plane"
	waitOthers       = "wait-others"
	handOver         = "hand-over"
)

// efiLabel is the name of the entry in the boot menu, as the protocol has it.
const efiLabel = "Red Hat Enterprise Linux"

// Refused says what this installer cannot do of an order; nil for nothing. An installer
// that the order names as a container image may be able to.
func Refused(request wire.InstallCmdRequest) error {
	var errs []error
	if request.CoreosImage != "" {
		errs = append(errs, errors.New("coreos_image: this agent does not install into an existing root; boot the live image, "+
			"or have the hub name an installer image of its own that can"))
	}
	if request.EnableSkipMcoReboot {
		errs = append(errs, errors.New("enable_skip_mco_reboot: this agent cannot spare the restart by the machine-config operator; "+
			"have the hub leave it out (ENABLE_SKIP_MCO_REBOOT=false), or name an installer image of its own that can"))
	}
	return errors.Join(errs...)
}

// Tasks implements [install.Installer].
func (i *Installer) Tasks(ctx context.Context, job install.Job) ([]install.Task, error) {
	if err := Refused(job.Request); err != nil {
		return nil, err
	}
	single := job.Request.ControlPlaneCount == 1
	tasks := []install.Task{
		{Name: checkDisk, Stage: wire.HostStageStartingInstallation, Run: func(ctx context.Context, _ install.Report) error { return i.check(ctx, job) }},
		{Name: fetchIgnition, After: []string{checkDisk}, Stage: wire.HostStageInstalling, Run: func(ctx context.Context, _ install.Report) error { return i.ignition(ctx, job) }},
		{Name: bootEntry, After: []string{writeImage}, Stage: wire.HostStageWritingImageToDisk, Run: func(ctx context.Context, _ install.Report) error { return i.bootEntry(ctx, job.Disk) }},
		{Name: handOver, After: []string{bootEntry}, Stage: wire.HostStageRebooting, Info: i.rebootInfo(ctx), Run: func(ctx context.Context, _ install.Report) error { return i.leaveRecord(ctx, job) }},
	}
	complete := install.Task{Name: completeIgnition, After: []string{fetchIgnition}, Stage: wire.HostStageInstalling, Run: func(ctx context.Context, _ install.Report) error { return i.singleNode(ctx, job) }}
	// Nothing is cleaned before the Ignition is there: the hub's answer says whether the order still stands.
	clean := install.Task{Name: cleanDisks, After: []string{completeIgnition}, Stage: wire.HostStageInstalling, Run: func(ctx context.Context, r install.Report) error { return i.clean(ctx, job, r) }}
	write := install.Task{Name: writeImage, After: []string{cleanDisks}, Stage: wire.HostStageWritingImageToDisk, Run: func(ctx context.Context, r install.Report) error { return i.write(ctx, job, r) }}
	if job.Request.Role == wire.HostRoleBootstrap && !single && i.hasHub() {
		tasks[len(tasks)-1].After = append(tasks[len(tasks)-1].After, waitOthers)
		tasks = append(tasks, install.Task{
			Name: waitOthers, After: []string{checkDisk}, Stage: wire.HostStageWaitingForController,
			Run: func(ctx context.Context, r install.Report) error { return i.waitOthers(ctx, job, r) },
		})
	}
	switch job.Request.Role {
	case wire.HostRoleWorker:
		tasks = append(tasks, install.Task{
			Name: waitControlPlane, After: []string{checkDisk}, Stage: wire.HostStageWaitingForControlPlane,
			Run: func(ctx context.Context, r install.Report) error { return i.waitControlPlane(ctx, job, r) },
		})
	case wire.HostRoleBootstrap:
		if i.Bootstrap != nil {
			services, before, err := i.Bootstrap(ctx, job, single)
			if err != nil {
				return nil, err
			}
			for _, service := range services {
				if len(service.After) == 0 {
					service.After = []string{checkDisk}
				}
				tasks = append(tasks, service)
			}
			if len(before) > 0 { // what they make is part of the Ignition
				complete.After = append(complete.After, before...)
				complete.Stage, clean.Stage = wire.HostStageWritingImageToDisk, wire.HostStageWritingImageToDisk
			}
		}
	default: // it waits for nobody
	}
	return append(tasks, complete, clean, write), nil
}

// patience bounds every program but the one that writes the image: those that
// look at a disk or clean it are done in seconds, unless a device hangs.
const patience = 5 * time.Minute

// exec is the runner in the shape of the shared code: it hands over what programs
// answer, and logs what they say besides.
func (i *Installer) exec() hostexec.Exec {
	run := command.Exec(i.Commands, i.Log)
	return func(ctx context.Context, argv []string, line func(string)) error {
		ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no end in %v", patience))
		defer cancel()
		return run(ctx, argv, line)
	}
}

// check proves that the order may be carried out before anything is changed.
func (i *Installer) check(ctx context.Context, job install.Job) error {
	if _, err := hostexec.Output(ctx, i.exec(), "coreos-installer", "--version"); err != nil {
		if hostexec.Missing(err) {
			return errors.New("this live image has no coreos-installer")
		}
		return err
	}
	return i.forbidden(ctx, job)
}

// forbidden says why the disk of the order may not be written now; nil if it may.
func (i *Installer) forbidden(ctx context.Context, job install.Job) error {
	if err := i.unmarked(); err != nil {
		return err
	}
	return errors.Join(i.unmoved(ctx, job.Request.BootDevice, job.Disk), i.unused(ctx, job.Disk))
}

// unmarked refuses to go on when this boot has a done marker already.
func (i *Installer) unmarked() error {
	boot, err := i.Dir.BootID()
	if err != nil {
		return fmt.Errorf("boot id: %w", err)
	}
	var marker hostfile.Installed
	if err := i.Dir.Read(hostfile.InstalledFile, &marker); err == nil && marker.BootID == boot {
		return fmt.Errorf("this boot has installed %s already (%s); the disk is not written again", marker.Disk, hostfile.InstalledFile)
	}
	return nil
}

// bootEntry makes the new system the firmware's first choice. What goes wrong is
// logged only: the disk may be found without an entry.
func (i *Installer) bootEntry(ctx context.Context, disk string) error {
	warn := func(err error) { i.Log.Warn("the new partitions may not be known yet", "disk", disk, "error", err) }
	err := i.Effects.Do(ctx, effect.RescanDisk, disk, func() error { blockdev.Rescan(ctx, i.exec(), disk, warn); return nil })
	if err != nil {
		return err
	}
	return i.Effects.Do(ctx, effect.BootEntry, disk, func() error {
		menu := efiboot.Firmware{Exec: i.exec(), Host: i.Dir, Label: efiLabel}
		warning, err := menu.First(ctx, disk)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || warning != "" {
			i.Log.Warn("the firmware's boot menu may not know the new system", "disk", disk, "warning", warning, "error", err)
		}
		return nil
	})
}
