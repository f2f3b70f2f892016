package coreos

import (
	"context"
	"time"

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
