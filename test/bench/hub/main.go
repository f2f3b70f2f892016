// Command hub measures the hub as it is shipped: `ironflow hub` over a real
// kube-apiserver with TLS and agents' tokens, its records in SQLite or PostgreSQL,
// under a fleet of simulated agents in a process of their own, which obey the
// hub's waits, report inventories of 30 KB, and half of which are in clusters of
// 3, 50 and 500.
//
// The fleet boots within a minute, then rests, then is polled as fast as 32
// connections can; the hub is started anew on the records; and 500 clusters of
// three hosts go through a whole simulated installation. The last line is JSON.
// Everything shares the machine: hub, fleet, kube-apiserver, etcd and database.
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
	profile          string
	load             bool
}

func main() {
	var o options
	flag.StringVar(&o.program, "ironflow", "bin/ironflow", "the program to measure")
	flag.IntVar(&o.agents, "agents", 10_000, "hosts of the fleet")
	flag.IntVar(&o.clusters, "clusters", 500, "clusters of three hosts that are installed")
	flag.StringVar(&o.database, "database", "sqlite", "sqlite or postgres")
	flag.DurationVar(&o.settle, "settle", 3*time.Minute, "how long the fleet is left alone before it is watched at rest")
	flag.DurationVar(&o.window, "window", 2*time.Minute, "how long it is watched")
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
	case o.agents < 20 || o.clusters < 1 || o.database != "sqlite" && o.database != "postgres":
		err = errors.New("want at least 20 --agents, one of --clusters, and --database sqlite or postgres")
	default:
		err = measure(ctx, o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench hub:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}
