package demo

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/vm"
	"github.com/ironflow/ironflow/test/vm/flows"
	"github.com/ironflow/ironflow/test/vm/lan"
)

const (
	// realName is the whole machine's name.
	realName = "machine-whole"
	// machinePatience is how long a whole machine may take for one direction, on an
	// emulated processor that others use, too.
	machinePatience = time.Hour
)

// network is not the one of the tests' flows, which may run beside a demo.
var network = netip.MustParsePrefix("172.24.0.1/24")

// installedLine is what the system that was installed says at each boot.
var installedLine = regexp.MustCompile(`(?m)^.*INSTALLED `)

// bringUpMachine starts the world around a whole machine, that machine, and the
// simulated ones beside it.
func (d *demo) bringUpMachine(ctx context.Context) error {
	scenarios := d.scenarios(d.options.Hosts - 1)
	var err error
	d.world, err = flows.Start(ctx, flows.Options{
		Dir: d.dir, BinDir: d.options.BinDir, Source: d.options.Source, Simulated: scenarios, Out: sayer{d.screen},
		Network: lan.Options{Prefix: network},
	})
	if err != nil {
		return err
	}
	d.lab, d.hub, d.fleet, d.client = d.world.Lab, d.world.Ironflow, d.world.Fleet, d.world.Client
	if d.real, err = d.world.NewHost(ctx, flows.Spec{Name: realName}); err != nil {
		return err
	}
	d.describeMachines()
	bmc := d.lab.Emulator
	d.machines = append([]machineSpec{{
		name: realName, bmcAddress: bmc.Address(d.real.UUID), bmcUser: bmc.User, bmcPassword: bmc.Password,
		bootMAC: d.real.Config.NICs[0].MAC, rootSerial: d.real.Config.Disks[0].Serial,
	}}, d.machines...)
	return nil
}

// consoles says where the whole machine's console is, before there is one.
func (d *demo) consoles() string {
	dir := flows.MachineDir(d.dir, realName)
	return fmt.Sprintf("its console and its journal, for another terminal: tail -F %s %s", filepath.Join(dir, vm.ConsoleFile), filepath.Join(dir, vm.JournalFile))
}

// realRuns reports whether the whole machine has said that it runs from its disk.
func (d *demo) realRuns() bool {
	raw, err := os.ReadFile(d.real.Machine.ConsoleLog())
	return err == nil && installedLine.Match(raw)
}

// shutdownMachine ends the whole machine and the world.
func (d *demo) shutdownMachine(ctx context.Context) error {
	var errs []error
	if d.real != nil {
		errs = append(errs, d.real.Close())
	}
	errs = append(errs, d.world.Close(ctx))
	if left := d.lab.Processes(); len(left) > 0 {
		errs = append(errs, fmt.Errorf("processes of the lab are still there: %v", left))
	}
	return errors.Join(errs...)
}

// disksEmpty fails unless the whole machine's disks hold nothing any more.
func (d *demo) disksEmpty() error {
	if d.real == nil {
		return nil
	}
	for i := range d.real.Config.Disks {
		path := d.real.Machine.DiskPath(i)
		held, err := flows.Signatures(path)
		if err != nil {
			return err
		}
		if len(held) > 0 {
			return fmt.Errorf("machine %s is available, but %s still holds %s", realName, filepath.Base(path), strings.Join(held, ", "))
		}
	}
	return nil
}

// sayer lets the world's lines appear on the screen.
type sayer struct{ screen *screen }

func (s sayer) Write(line []byte) (int, error) {
	s.screen.Say("%s", strings.TrimSpace(string(line)))
	return len(line), nil
}
