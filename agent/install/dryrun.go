package install

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/hub/wire"
)

// defaultStage is how long a pretended stage takes when the scenario does not say.
const defaultStage = 200 * time.Millisecond

// DryRun pretends to install: stages take the scenario's time, and its faults
// happen in the middle of their stage.
type DryRun struct {
	// Scenario is the machine; nil pretends with default times.
	Scenario *scenario.Scenario
	// Mishaps are its faults.
	Mishaps Mishaps
}

// Tasks implements [Installer]: one task for each stage.
func (d *DryRun) Tasks(_ context.Context, job Job) ([]Task, error) {
	return Chain(Sequence(job.Request), func(ctx context.Context, stage wire.HostStage, report Report) error {
		return d.stage(ctx, job, stage, report)
	}), nil
}

func (d *DryRun) stage(ctx context.Context, job Job, stage wire.HostStage, report Report) error {
	if want := d.install().Disk; stage == writing && want != "" && want != filepath.Base(job.Disk) {
		return fmt.Errorf("asked to write %s, but this machine expects its disk %s to be written", job.Disk, want)
	}
	half := d.duration(stage) / 2
	percent := func(from int) func(int) { return func(p int) { report(from+p/2, "to "+job.Disk) } }
	if stage != writing {
		percent = func(int) func(int) { return func(int) {} }
	}
	if err := pretend(ctx, half, percent(0)); err != nil {
		return err
	}
	if err := d.fault(stage); err != nil {
		return err
	}
	return pretend(ctx, half, percent(50))
}

// pretend passes the time in twenty pieces and reports 0 to 100 percent of it.
func pretend(ctx context.Context, duration time.Duration, percent func(int)) error {
	const pieces = 20
	timer := time.NewTimer(0)
	defer timer.Stop()
	for i := range pieces + 1 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
		}
		percent(i * 100 / pieces)
		timer.Reset(duration / pieces)
	}
	return nil
}

func (d *DryRun) install() scenario.Install {
	if d.Scenario == nil {
		return scenario.Install{}
	}
	return d.Scenario.Install
}

func (d *DryRun) duration(stage wire.HostStage) time.Duration {
	install := d.install()
	if own, ok := install.Stages[string(stage)]; ok {
		return own.Duration
	}
	if !install.DefaultStage.IsZero() {
		return install.DefaultStage.Duration
	}
	return defaultStage
}

// fault lets happen what the scenario has planned for this stage.
func (d *DryRun) fault(stage wire.HostStage) error {
	if err := d.Mishaps.At(string(stage)); err != nil {
		return err
	}
	fault, taken, err := d.Mishaps.Faults.Take(scenario.FaultInstall, string(stage))
	if err != nil || !taken {
		return err
	}
	if fault.Text == "" {
		fault.Text = "the scenario lets the installation fail"
	}
	return errors.New(fault.Text)
}
