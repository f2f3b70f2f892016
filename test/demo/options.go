package demo

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
)

// Options choose what is shown.
type Options struct {
	// Hosts is how many machines there are, 1 to 200.
	Hosts int
	// Once goes on by itself to the end; otherwise the demo stays until it is interrupted.
	Once bool
	// Edge shows a cluster that installs itself instead: no BMC, no Kubernetes and no Ironic,
	// only hosts that boot one image.
	Edge bool
	// Folders makes hosts of Edge folders, also where each could be a systemd of its own.
	Folders bool
	// Machine makes the first host a whole virtual machine (package test/vm); the
	// others are simulated. Needs root.
	Machine bool
	// Source is the source tree, which a whole machine's images are made of.
	Source string
	// Fault is one of [Faults], empty for none.
	Fault string
	// Kills is how often Ironflow is killed at random moments.
	Kills int
	// StateDir is the folder of state, empty for a temporary one.
	StateDir string
	// BinDir holds the programs: ironflow, and below lab/ those of the simulated machines.
	BinDir string
	// Out is what the person sees.
	Out io.Writer
	// Terminal tells that Out is one, and Width is its width.
	Terminal bool
	Width    int
}

// maxHosts is what two cores carry in a demo.
const maxHosts = 200

func (o Options) validate() error {
	if o.Hosts < 1 || o.Hosts > maxHosts {
		return fmt.Errorf("HOSTS=%d: choose 1 to %d hosts", o.Hosts, maxHosts)
	}
	if o.Edge && (o.Machine || o.Fault != "" || o.Kills > 0) {
		return errors.New("EDGE shows hosts that install themselves: leave MACHINE, FAULT and kills out")
	}
	if o.Machine && o.Fault != "" {
		return errors.New("FAULT is played by simulated machines alone: leave MACHINE or FAULT out")
	}
	if o.Machine && os.Geteuid() != 0 {
		return errors.New("MACHINE=1 makes network devices and root file systems: run it as root")
	}
	if o.Fault != "" && faults[o.Fault].run == nil {
		return fmt.Errorf("FAULT=%s: choose one of %s", o.Fault, strings.Join(Faults(), ", "))
	}
	return nil
}

// patience is how long the slowest host may take for one direction: a tenth of it is usual, the rest is
// for a machine that does much else.
func (o Options) patience() time.Duration {
	if o.Machine {
		return machinePatience
	}
	return 15*time.Minute + time.Duration(o.Hosts)*15*time.Second + time.Duration(o.Kills)*20*time.Second
}

// Faults lists the names that Options.Fault takes.
func Faults() []string { return slices.Sorted(maps.Keys(faults)) }

// Summary is the last line of a run with Once.
type Summary struct {
	Hosts       int     `json:"hosts"`
	Provisioned int     `json:"provisioned"`
	Returned    int     `json:"returned"`
	Seconds     float64 `json:"seconds"`
}
