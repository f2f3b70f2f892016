// Command bmc measures what asking BMCs costs: a real kube-apiserver, the simulated
// Ironic of the bench of fleets, a process with a simulated BMC for each host, and
// `ironflow controllers`, without --bmc first and with it then.
//
// It prints how long it takes until all BMCs are probed, by how many requests, the CPU
// time and memory that this takes besides, what is asked while nothing happens, how
// many events a second are taken, and how soon one wakes a host. The last line is JSON.
// A limit that is missed is an error.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ironflow/ironflow/test/bench/fleets"
	"github.com/ironflow/ironflow/test/bench/profile"
)

// options are the flags.
type options struct {
	fleets.Flags

	answer time.Duration
}

func main() {
	var o options
	o.Define(10 * time.Minute)
	address := flag.String("bmcs", "", "internal: be the BMCs, asked by the bench at this address")
	flag.DurationVar(&o.answer, "answer", 50*time.Millisecond, "time that a BMC takes for an answer")
	o.Main("bench bmc", func(ctx context.Context) error {
		if *address != "" {
			return beBMCs(ctx, *address, o.Hosts, o.answer)
		}
		return run(ctx, o)
	})
}

// run measures and reports.
func run(ctx context.Context, o options) error {
	defaults, err := intervalsOf(ctx, o.Program)
	if err != nil {
		return err
	}
	m := measured{defaults: defaults}
	if err := inWorld(ctx, o, m.without); err != nil {
		return fmt.Errorf("without BMCs: %w", err)
	}
	if err := inWorld(ctx, o, m.with); err != nil {
		return fmt.Errorf("with BMCs: %w", err)
	}
	return report(os.Stdout, m.result(o.Hosts))
}

// inWorld does something in a world of its own.
func inWorld(ctx context.Context, o options, do func(context.Context, *world) error) error {
	watching, cancel := context.WithCancel(ctx)
	w, err := newWorld(watching, o)
	if err != nil {
		cancel()
		return err
	}
	defer w.stop()
	defer cancel() // nobody looks at the hosts any more when the API server ends
	return do(watching, w)
}

// measured are the figures as they were seen.
type measured struct {
	defaults intervals
	// bare is the program without BMCs, full with them: until all hosts are available.
	bare, full used
	// hearing is the peak of the program that takes events.
	hearing  int64
	probed   time.Duration
	requests int
	events   float64
	reaction time.Duration
	// look and reading are requests, for one host.
	look, reading float64
}

// without measures the program that asks no BMCs.
func (m *measured) without(ctx context.Context, w *world) error {
	say("%d hosts without their BMCs", w.options.Hosts)
	if err := w.run(ctx); err != nil {
		return err
	}
	w.keepProfiles(ctx, "without")
	available, _, u, err := w.register(ctx, 0)
	m.bare = u
	say("all are available after %s, with %s", seconds(available), u)
	return err
}

// with measures the program that does: while hosts are registered, while events arrive,
// and at rest, when it looks at subscriptions and reads the health of machines.
func (m *measured) with(ctx context.Context, w *world) error {
	say("%d hosts with their BMCs", w.options.Hosts)
	if err := w.run(ctx, w.asking()...); err != nil {
		return err
	}
	w.keepProfiles(ctx, "with")
	available, probed, u, err := w.register(ctx, w.options.Hosts)
	if err != nil {
		return err
	}
	m.full, m.probed, m.requests = u, probed, w.hosts.mostRequests()
	say("all are available after %s and probed after %s, with %s", seconds(available), seconds(probed), u)
	counts, err := w.quiet(ctx)
	if err != nil {
		return err
	}
	if most := m.requests + mostPerReading + perSession; slices.Max(counts) > most {
		return fmt.Errorf("a BMC got %d requests: more than %d for the largest report, %d for a reading of its health and %d for another session", slices.Max(counts), m.requests, mostPerReading, perSession)
	}
	return m.hear(ctx, w)
}

const (
	// mostPerReading is how many requests a reading of health may take.
	mostPerReading = 12
	// perSession is what it takes to find that a session has ended, and to log in again:
	// a reading may be as late after the report.
	perSession = 2
)

// hear measures the program that takes events.
func (m *measured) hear(ctx context.Context, w *world) error {
	flags, err := w.hearing()
	if err != nil {
		return err
	}
	say("the program takes events")
	if err := w.run(ctx, flags...); err != nil {
		return err
	}
	if err := w.subscribe(ctx); err != nil {
		return err
	}
	w.keepProfiles(ctx, "events")
	if m.events, err = w.flood(ctx); err != nil {
		return err
	}
	if m.reaction, err = w.react(ctx); err != nil {
		return err
	}
	u, err := w.used()
	if err != nil {
		return err
	}
	m.hearing = u.peak
	say("all of that with %s", u)
	return m.rest(ctx, w, flags)
}

// rest measures what is asked while nothing happens, one kind after the other.
func (m *measured) rest(ctx context.Context, w *world, flags []string) error {
	say("the program looks at subscriptions each %s, and reads no health", lookEvery)
	w.program.Stop(ctx, stopPatience) // its logouts are requests too
	before, err := w.fleet.requests(ctx)
	if err != nil {
		return err
	}
	if err := w.run(ctx, append(flags, "--bmc-events-every", lookEvery.String(), "--bmc-health-every", "0")...); err != nil {
		return err
	}
	if m.look, err = w.looks(ctx, before); err != nil {
		return err
	}
	say("the program reads health")
	w.program.Stop(ctx, stopPatience)
	before, err = w.fleet.requests(ctx)
	if err != nil {
		return err
	}
	kinds, err := w.fleet.kinds(ctx)
	if err != nil {
		return err
	}
	if err := w.run(ctx, w.asking()...); err != nil {
		return err
	}
	m.reading, err = w.readings(ctx, before, kinds)
	return err
}

// keepProfiles keeps a CPU profile of the next minute, and the heap after it, if asked.
func (w *world) keepProfiles(ctx context.Context, part string) {
	if w.options.Profile == "" {
		return
	}
	address := w.pprof
	go func() {
		for _, p := range []struct{ file, kind string }{{"cpu", "profile?seconds=60"}, {"heap", "heap"}, {"allocs", "allocs"}} {
			if err := profile.Keep(ctx, address, p.kind, filepath.Join(w.options.Profile, part+"-"+p.file+".pprof")); err != nil && ctx.Err() == nil {
				say("profile: %v", err)
			}
		}
	}()
}
