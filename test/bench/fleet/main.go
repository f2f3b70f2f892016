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
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/test/bench/fleets"
)

// options are the flags.
type options struct {
	fleets.Flags

	rest   time.Duration
	stages string
}

func main() {
	var o options
	o.Define(15 * time.Minute)
	simulator := flag.String("simulator", "", "internal: be the Ironic simulator, on this address")
	flag.DurationVar(&o.rest, "rest", time.Minute, "how long the provisioned fleet is watched at rest")
	flag.StringVar(&o.stages, "stages", "all", "stages to run, by their names in the table (the first is always run)")
	o.Main("bench fleet", func(ctx context.Context) error {
		if *simulator != "" {
			return simulate(ctx, *simulator)
		}
		return run(ctx, o)
	})
}

// run measures and reports.
func run(ctx context.Context, o options) error {
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
	if o.Profile != "" {
		go s.profile(ctx, o.Profile)
	}
	r := &report{hosts: o.Hosts}
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
