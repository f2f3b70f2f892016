package demo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/shipped"
	"github.com/ironflow/ironflow/test/vm/flows"
)

// demo is one run.
type demo struct {
	options  Options
	screen   *screen
	dir      string
	lab      *lab.Lab
	fleet    *machine.Fleet
	hub      *shipped.Process
	client   client.Client
	machines []machineSpec
	summary  Summary

	// world is what a whole machine needs around it, real that machine; nil without one.
	world *flows.World
	real  *flows.Host
}

// Run shows the flow. With Once it returns when every host is back; otherwise it
// stays until ctx ends. Everything that it started is gone when it returns.
func Run(ctx context.Context, o Options) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.Edge {
		return runEdge(ctx, o)
	}
	d := &demo{options: o, screen: newScreen(o), summary: Summary{Hosts: o.Hosts}}
	begin := time.Now()
	err := d.run(ctx)
	stopped := d.shutdown(context.WithoutCancel(ctx))
	if stopped == nil {
		stopped = d.tidyUp()
	}
	err = errors.Join(err, stopped)
	if errors.Is(err, context.Canceled) && ctx.Err() != nil && !o.Once {
		return nil
	}
	d.summary.Seconds = float64(time.Since(begin).Round(100*time.Millisecond)) / float64(time.Second)
	if o.Once {
		if line, jsonErr := json.Marshal(d.summary); jsonErr == nil {
			fmt.Fprintln(o.Out, string(line))
		}
	}
	return err
}

func (d *demo) run(ctx context.Context) error {
	if err := d.makeDir(); err != nil {
		return err
	}
	d.introduce()
	if err := d.bringUp(ctx); err != nil {
		return err
	}
	if err := d.linkTools(); err != nil {
		return fmt.Errorf("find kubectl: %w", err)
	}
	if err := create(ctx, d.client, d.machines); err != nil {
		return err
	}
	d.screen.Say("created %d hosts; watch them from BMC address to installed", d.options.Hosts)
	if err := d.install(ctx); err != nil {
		return err
	}
	d.summary.Provisioned = d.options.Hosts
	d.screen.Say("all %d hosts are installed and run from their disks", d.options.Hosts)
	if !d.options.Once {
		d.whereToLook()
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return d.giveBack(ctx)
}

// install waits until every host runs its installed system, while the chosen
// fault plays out beside it.
func (d *demo) install(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var beside sync.WaitGroup
	defer beside.Wait()
	faulted := make(chan struct{})
	if f, ok := faults[d.options.Fault]; ok {
		d.screen.Say("fault: %s", f.says)
		beside.Go(func() {
			if err := f.run(ctx, d, f); err != nil && ctx.Err() == nil {
				cancel(err)
			}
			close(faulted)
		})
	} else {
		close(faulted)
	}
	if d.options.Kills > 0 {
		beside.Go(func() { d.hub.Chaos(ctx, d.options.Kills, d.screen.Say) })
	}
	provisioned := inState(d.options.Hosts, metal3v1.StateProvisioned)
	err := watchUntil(ctx, d.client, d.screen, d.options.patience(), func(hosts []view.View) bool {
		select {
		case <-faulted:
			return provisioned(hosts) && d.machinesRun()
		default:
			return false
		}
	})
	cancel(err)
	return err
}

// machinesRun reports whether every machine has booted from its disk.
func (d *demo) machinesRun() bool {
	for _, s := range d.simulatedStates() {
		if s.State != machine.Installed {
			return false
		}
	}
	return d.real == nil || d.realRuns()
}

// simulatedStates are what the simulated machines do.
func (d *demo) simulatedStates() []machine.Status {
	if d.fleet == nil {
		return nil
	}
	return d.fleet.States()
}

// logs is the folder with the logs of all parts.
func (d *demo) logs() string {
	if d.world != nil {
		return d.world.Logs()
	}
	return filepath.Join(d.dir, "log")
}

// shutdown ends everything and makes sure that nothing is left.
func (d *demo) shutdown(ctx context.Context) error {
	if d.world != nil {
		return d.shutdownMachine(ctx)
	}
	var errs []error
	if d.hub != nil {
		errs = append(errs, d.hub.Stop())
	}
	if d.fleet != nil {
		errs = append(errs, d.fleet.Close())
		if left := d.fleet.Processes(); len(left) > 0 {
			errs = append(errs, fmt.Errorf("processes of the machines are still there: %v", left))
		}
	}
	if d.lab != nil {
		errs = append(errs, d.lab.Stop(ctx))
		if left := d.lab.Processes(); len(left) > 0 {
			errs = append(errs, fmt.Errorf("processes of the lab are still there: %v", left))
		}
	}
	return errors.Join(errs...)
}

// tidyUp removes a temporary folder of state after a success, and else says where it is.
func (d *demo) tidyUp() error {
	if d.options.StateDir == "" && d.dir != "" && d.summary.Returned == d.options.Hosts {
		return os.RemoveAll(d.dir)
	}
	if d.dir != "" {
		d.screen.Say("the logs are in %s", d.dir)
	}
	return nil
}
