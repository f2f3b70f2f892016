// Command hub measures the hub as it is shipped: `ironflow hub` over a real
// kube-apiserver with TLS and agents' tokens, its records in SQLite or PostgreSQL,
// under a fleet of simulated agents in a process of their own, which obey the
// hub's waits, report inventories of 30 KB, and half of which are in clusters of
// 3, 50 and 500.
//
// The fleet boots within a minute, then rests, then is polled as fast as 32
// connections can; the hub is started anew on the records; 500 clusters of
// three hosts go through a whole simulated installation; and a plain Kubernetes
// of 500 hosts is prepared. The last line is JSON.
// Everything shares the machine: hub, fleet, kube-apiserver, etcd and database.
//
// With --cores, the hub has CPUs for itself, and all else has the others: half of the
// fleet boots, and then all of it at a new hub. With --hostile, one more host does its worst beside a
// fleet at rest.
package main

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
	ctrl "sigs.k8s.io/controller-runtime"
)

// options are the flags.
type options struct {
	program          string
	agents, clusters int
	database         string
	settle, window   time.Duration
	// fleets are how many fleets of so many agents there are; zero for one.
	fleets int
	// boot is the time within which the fleet boots.
	boot time.Duration
	// hostile has one more host do its worst beside a fleet, which is all that is measured then.
	hostile bool
	// cores are how many CPUs the hub has for itself, hubCPUs which; none where it shares all.
	cores   int
	hubCPUs string
	profile string
	load    bool
}

func main() {
	var o options
	flag.StringVar(&o.program, "ironflow", "bin/ironflow", "the program to measure")
	flag.IntVar(&o.agents, "agents", 10_000, "hosts of the fleet")
	flag.IntVar(&o.clusters, "clusters", 500, "clusters of three hosts that are installed")
	flag.StringVar(&o.database, "database", "sqlite", "sqlite or postgres")
	flag.DurationVar(&o.settle, "settle", 3*time.Minute, "how long the fleet is left alone before it is watched at rest")
	flag.DurationVar(&o.window, "window", 2*time.Minute, "how long it is watched")
	flag.DurationVar(&o.boot, "boot", time.Minute, "the time within which the fleet boots")
	flag.IntVar(&o.cores, "cores", 0, "CPUs that the hub has for itself while a fleet boots, which is all that is measured then")
	flag.BoolVar(&o.hostile, "hostile", false, "one more host that does its worst while the fleet rests, which is all that is measured then")
	flag.StringVar(&o.hubCPUs, "hub-cpus", "", "internal: which CPUs those are")
	flag.StringVar(&o.profile, "profile", "", "folder for CPU and heap profiles of the hub")
	flag.BoolVar(&o.load, "load", false, "internal: be the fleet, by the JSON on standard input")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var err error
	switch {
	case o.load:
		err = beLoad(ctx, os.Stdin)
	case o.agents < 40 || o.clusters < 1 || o.database != "sqlite" && o.database != "postgres":
		err = errors.New("want at least 40 --agents, one of --clusters, and --database sqlite or postgres")
	case o.hostile:
		err = measureHostile(ctx, o)
	case o.cores > 0 && o.hubCPUs == "":
		err = pin(o.cores)
	case o.cores > 0:
		err = storms(ctx, o)
	default:
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench hub:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}
