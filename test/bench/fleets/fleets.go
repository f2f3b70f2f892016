// Package fleets is what the benchmarks of whole fleets share: the flags that say how
// large a fleet is and what is measured with it, how such a command runs and ends, and
// how long the simulated Ironic takes. So their figures can be held against each other.
package fleets

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// Delays are what the simulated Ironic takes: those that the figures of the existing
// operator were measured with.
var Delays = simulator.Delays{
	Verify: 500 * time.Millisecond, Inspect: 5 * time.Second, Clean: 5 * time.Second,
	Deploy: 5 * time.Second, Power: time.Second,
}

// Flags are those of each benchmark of a fleet.
type Flags struct {
	// Hosts is their number, at least one.
	Hosts int
	// Program is the path of ironflow.
	Program string
	// Limit is how long a stage may take.
	Limit time.Duration
	// StateDir is the folder of state and logs that is kept; empty for a temporary one.
	StateDir string
	// Profile is the folder for profiles of the program; empty for none.
	Profile string
}

// Define adds the flags to those of the command, with its own limit of a stage.
func (f *Flags) Define(limit time.Duration) {
	flag.IntVar(&f.Hosts, "hosts", 1000, "number of hosts")
	flag.StringVar(&f.Program, "ironflow", "bin/ironflow", "the program to measure")
	flag.DurationVar(&f.Limit, "limit", limit, "limit of each stage")
	flag.StringVar(&f.StateDir, "state-dir", "", "folder of state and logs that is kept (default a temporary one)")
	flag.StringVar(&f.Profile, "profile", "", "folder for profiles of the program")
}

// Main parses the flags of a command and runs it until it is done or interrupted. An
// error ends the process, with the command's name before it.
func (f *Flags) Main(name string, run func(context.Context) error) {
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := f.check()
	if err == nil {
		err = run(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

func (f *Flags) check() error {
	if f.Hosts < 1 {
		return fmt.Errorf("--hosts %d: at least one host is needed", f.Hosts)
	}
	return nil
}
