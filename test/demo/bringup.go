package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
	"github.com/ironflow/ironflow/test/machine"
	"github.com/ironflow/ironflow/test/media"
	"github.com/ironflow/ironflow/test/scenario/generate"
	"github.com/ironflow/ironflow/test/shipped"
)

// heartbeat is how long a ramdisk may be silent; it beats at about half of that.
// Ironic drops a beat that meets a locked node, and with many hosts and its usual
// five minutes, a machine would then stand still for up to three.
const heartbeat = 40 * time.Second

// bringUp starts the machines, the lab and Ironflow.
func (d *demo) bringUp(ctx context.Context) error {
	if d.options.Machine {
		return d.bringUpMachine(ctx)
	}
	if err := d.startMachines(); err != nil {
		return err
	}
	if err := d.startLab(ctx); err != nil {
		return err
	}
	if err := d.fleet.Plug(ctx, d.lab.Emulator); err != nil {
		return fmt.Errorf("connect the machines to their BMCs: %w", err)
	}
	d.describeMachines()
	var err error
	if d.client, err = shipped.NewClient(d.lab.ControlPlane.Config()); err != nil {
		return err
	}
	return d.startIronflow(ctx)
}

func (d *demo) makeDir() error {
	d.dir = d.options.StateDir
	var err error
	if d.dir == "" {
		d.dir, err = os.MkdirTemp("", "ironflow-demo-")
	} else {
		err = os.MkdirAll(d.dir, 0o700)
	}
	if err != nil {
		return fmt.Errorf("make the folder of state: %w; choose another one with --state-dir", err)
	}
	d.dir, err = filepath.Abs(d.dir)
	return err
}

func (d *demo) startMachines() error {
	scenarios := d.scenarios(d.options.Hosts)
	scenarios[0].Faults = append([]scenario.Fault(nil), faults[d.options.Fault].machine...)
	var err error
	d.fleet, err = machine.NewFleet(machine.Options{
		Dir:       filepath.Join(d.dir, "machines"),
		BinDir:    filepath.Join(d.options.BinDir, "lab"),
		Scenarios: scenarios,
		Fresh:     true,
		Pace:      machine.LabPace,
	})
	if err != nil {
		return fmt.Errorf("prepare the simulated machines: %w", err)
	}
	return nil
}

// scenarios makes simulated machines, and notes what the user knows about them.
func (d *demo) scenarios(n int) []*scenario.Scenario {
	scenarios := generate.Machines(n, generate.Options{})
	for _, s := range scenarios {
		spec := machineSpec{name: s.Name, bootMAC: strings.ToLower(s.Hardware.NICs[0].MAC)}
		if len(s.Hardware.Disks) > 0 {
			spec.rootSerial = s.Hardware.Disks[0].Serial
		}
		d.machines = append(d.machines, spec)
	}
	return scenarios
}

func (d *demo) startLab(ctx context.Context) error {
	user, password := d.fleet.NotifierCredentials()
	ironic := &lab.IronicOptions{CallbackTimeout: faults[d.options.Fault].timeout, HeartbeatTimeout: heartbeat}
	var err error
	d.lab, err = lab.Start(ctx, lab.Options{
		StateDir: d.dir,
		Progress: func(e progress.Event) { d.screen.Say("%s", e) },
		ControlPlane: &lab.ControlPlaneOptions{
			Controllers: true,
		},
		Ironic: ironic,
		Emulator: &lab.EmulatorOptions{
			NotifierURL: d.fleet.NotifierURL(), NotifierUser: user, NotifierPassword: password,
		},
	})
	return err
}

// describeMachines fills in what the user knows about the BMCs.
func (d *demo) describeMachines() {
	bmc := d.lab.Emulator
	for i := range d.machines {
		state, _ := d.fleet.State(d.machines[i].name)
		d.machines[i].bmcAddress = bmc.Address(state.UUID)
		d.machines[i].bmcUser, d.machines[i].bmcPassword = bmc.User, bmc.Password
	}
}

// startIronflow starts Ironflow as an operator would, and waits until it is ready.
func (d *demo) startIronflow(ctx context.Context) error {
	iso := filepath.Join(d.dir, "base.iso")
	if err := media.WriteFile(iso, media.Options{}); err != nil {
		return fmt.Errorf("make the base medium: %w", err)
	}
	var err error
	d.hub, err = shipped.Start(ctx, shipped.Options{
		Lab: d.lab, Program: filepath.Join(d.options.BinDir, "ironflow"), HostPrograms: filepath.Join(d.options.BinDir, "lab"), BaseISO: iso,
	})
	return err
}
