// Command hostagent measures the host agent as it is shipped: the stripped program's
// size; the time from its start to its registration with our hub, and the memory
// of the idle process; the time of one inventory of this machine, and how many
// processes that starts; an ARP sweep of a /22 in a network namespace; and a
// fleet of agents in dry run, each with its own identity and TLS connection,
// against `ironflow hub` with a real kube-apiserver. The last line is JSON.
// Everything shares the machine: agents, hub, kube-apiserver and etcd.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/ironflow/ironflow/test/lab"
	"github.com/ironflow/ironflow/test/lab/progress"
)

// options are the flags.
type options struct {
	agent, hub string
	agents     int
	watch      time.Duration
	idle       time.Duration
	load       string
}

// limits are those of the figures.
var limits = map[string]float64{
	"binary_mib": 12, "rss_mib": 30, "register_s": 0.3, "inventory_s": 0.4, "spawned": 0, "arp22_s": 3, "cycle_s": 60,
}

// figures are the numbers of the last line.
type figures struct {
	Binary    float64 `json:"binary_mib"`
	RSS       float64 `json:"rss_mib"`
	Register  float64 `json:"register_s"`
	Inventory float64 `json:"inventory_s"`
	Spawned   int     `json:"spawned"`
	ARP22     float64 `json:"arp22_s"`
	Agents    int     `json:"agents"`
	Cycle     float64 `json:"cycle_s"`
}

func main() {
	var o options
	flag.StringVar(&o.agent, "agent", "bin/ironflow-agent", "the agent to measure")
	flag.StringVar(&o.hub, "ironflow", "bin/ironflow", "the hub to measure it with")
	flag.IntVar(&o.agents, "agents", 2000, "agents of the fleet")
	flag.DurationVar(&o.watch, "watch", 4*time.Minute, "how long the registered fleet is watched")
	flag.DurationVar(&o.idle, "idle", 75*time.Second, "how long the one agent is idle before its memory is read")
	flag.StringVar(&o.load, "load", "", "internal: be the fleet, by this JSON")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	do := measure
	if o.load != "" {
		do = beFleet
	}
	if err := do(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench agent:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

// measure takes all figures and prints them.
func measure(ctx context.Context, o options) (err error) {
	f := figures{Agents: o.agents}
	if f.Binary, err = binarySize(o.agent); err != nil {
		return err
	}
	if f.Inventory, err = inventoryTime(ctx, o.agent); err != nil {
		return err
	}
	if f.Spawned, err = spawned(o.agent, "inventory", "--with-text-logging=false"); err != nil {
		return err
	}
	if f.ARP22, err = sweep(ctx, o.agent); err != nil {
		return err
	}
	l, err := lab.New(lab.Options{Progress: progress.Lines(os.Stderr)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Stop(context.WithoutCancel(ctx))) }()
	hub, err := startHub(ctx, l, o.hub)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hub.Stop()) }()
	if f.Register, f.RSS, err = oneAgent(ctx, o, hub); err != nil {
		return err
	}
	if f.Cycle, err = fleet(ctx, o, hub); err != nil {
		return err
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return verdict(raw)
}

// verdict is every limit that was missed.
func verdict(raw []byte) error {
	var values map[string]float64
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	var errs []error
	for name, limit := range limits {
		if value, ok := values[name]; !ok || value > limit {
			errs = append(errs, fmt.Errorf("%s is %v, more than %v", name, value, limit))
		}
	}
	return errors.Join(errs...)
}
