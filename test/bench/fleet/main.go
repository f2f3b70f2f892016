// Command fleet measures the host controller with a whole fleet: a real
// kube-apiserver with its audit log, the Ironic simulator and `ironflow
// controllers`, each in a process of its own.
//
// It creates the hosts with their Secrets, waits until all are available and
// powered on, provisions all, lets them rest, and deletes all. It prints what
// that took: seconds, requests by verb and kind (from the audit log and the
// simulator's counters), CPU time and peak memory of the controller, and how soon
// it reacted to a change in Ironic. The last line is JSON.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/go-logr/logr"
)

// options are the flags.
type options struct {
	hosts    int
	program  string
	rest     time.Duration
	limit    time.Duration
	stateDir string
	stages   string
	profile  bool
}

func main() {
	var o options
	simulator := flag.String("simulator", "", "internal: be the Ironic simulator, on this address")
	flag.IntVar(&o.hosts, "hosts", 1000, "number of hosts")
	flag.StringVar(&o.program, "ironflow", "bin/ironflow", "the program to measure")
	flag.DurationVar(&o.rest, "rest", time.Minute, "how long the provisioned fleet is watched at rest")
	flag.DurationVar(&o.limit, "limit", 15*time.Minute, "limit of each stage")
	flag.StringVar(&o.stateDir, "state-dir", "", "folder of state and logs that is kept (default a temporary one)")
	flag.StringVar(&o.stages, "stages", "all", "stages to run, by their names in the table (the first is always run)")
	flag.BoolVar(&o.profile, "profile", false, "keep profiles of the controller in the folder of state: CPU of the way to available, heap after it")
	flag.Parse()
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	if *simulator != "" {
		err = simulate(ctx, *simulator)
	} else {
		err = run(ctx, o)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "bench fleet:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

// run measures and reports.
func run(ctx context.Context, o options) error {
	if o.hosts < 1 {
		return fmt.Errorf("--hosts %d: at least one host is needed", o.hosts)
	}
	s, err := setUp(ctx, o)
	if err != nil {
		return err
	}
	defer s.tearDown()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // nobody looks at the hosts any more when the API server ends
	f, err := newFleet(ctx, s, o)
	if err != nil {
		return err
	}
	if o.profile {
		go s.profile(ctx)
	}
	r := &report{hosts: o.hosts}
	for _, stage := range []struct {
		name string
		do   func(context.Context) error
	}{
		{stageAvailable, f.create}, {stageProvisioned, f.provision}, {stageRest, f.rest}, {stageDeleted, f.remove},
	} {
		if len(r.stages) > 0 && o.stages != "all" && !slices.Contains(strings.Split(o.stages, ","), stage.name) {
			continue
		}
		m, err := s.measure(ctx, stage.name, stage.do)
		if err != nil {
			return fmt.Errorf("until %s: %w\n%s", stage.name, err, s.controllerTail())
		}
		r.stages = append(r.stages, m)
	}
	return r.print(os.Stdout)
}

// The stages of a run, named by their ends.
const (
	stageAvailable   = "available"
	stageProvisioned = "provisioned"
	stageRest        = "rest"
	stageDeleted     = "deleted"
)
