package coreos

import (
	"context"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/api/hostfile"
)

// rebootDelay lets the last words out before the machine goes down.
const rebootDelay = time.Minute

// byIronic is what is said with the stage Rebooting when Ironic does it.
const byIronic = "Ironic will reboot the node"

func (i *Installer) rebootInfo(ctx context.Context) string {
	if i.converged(ctx) {
		return byIronic
	}
	return ""
}

// converged tells whether Ironic's agent is on this host: then Ironic restarts
// the machine, and nobody else may. A deploy step of this boot is proof enough; a
// systemd that cannot be asked must not cost a running deployment its machine.
func (i *Installer) converged(ctx context.Context) bool {
	boot, err := i.Dir.BootID()
	var step hostfile.StepState
	if err == nil && i.Dir.Read(hostfile.StepFile, &step) == nil && step.BootID == boot {
		return true
	}
	unit, err := i.Units.Unit(ctx, hostfile.IPAUnit)
	if err != nil {
		i.Log.Warn("systemd cannot be asked for Ironic's agent; the machine is not restarted from here", "unit", hostfile.IPAUnit, "error", err)
		return true
	}
	return unit.Loaded() && unit.ActiveState != "inactive"
}

// leaveRecord has the image of an agent-based installation know this host again, should its firmware
// start that once more. Without a record the host is installed again then; it is installed all the same.
func (i *Installer) leaveRecord(ctx context.Context, job install.Job) error {
	if !installed.IsAgentBased(i.Dir) {
		return nil
	}
	return i.Effects.Do(ctx, effect.LeaveRecord, job.Disk, func() error {
		err := installed.Leave(ctx, i.exec(), i.Dir, job.Disk, job.Request.BootDevice, job.Request.HostID)
		if err != nil && ctx.Err() == nil {
			i.Log.Warn("the disk has no record of its installation: if the host starts this image again, it is installed again", "disk", job.Disk, "error", err)
		}
		return context.Cause(ctx)
	})
}

// Finish is the last thing after the done marker: without Ironic the machine is
// restarted, in a minute, or at once for a single node, whose services end here.
func (i *Installer) Finish(ctx context.Context, single bool) error {
	if i.converged(ctx) {
		i.Log.Info("done; Ironic restarts the machine")
		return nil
	}
	delay := rebootDelay
	if single {
		delay = 0
	}
	return i.Effects.Do(ctx, effect.RebootHost, "", func() error { return i.Units.Reboot(ctx, delay) })
}
