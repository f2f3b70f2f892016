// Command edge measures the hub of an agent-based installation as it is shipped: `ironflow
// hub agent-based` while three hosts install themselves by the units' programs. The agents
// pretend; the hub does all of its work, and its memory is the most that its process has
// had. The last line is JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ironflow/ironflow/test/edge"
)

// limit is how long an installation may take before the figures are no good.
const limit = 20 * time.Minute

// result is the last line.
type result struct {
	HubMiB    int64 `json:"hub_mib"`
	Hosts     int   `json:"hosts"`
	Installed int   `json:"installed"`
	// RegisteredS is from the start of node zero's hub to the first agent that has registered there.
	RegisteredS float64 `json:"registered_s"`
	Seconds     float64 `json:"seconds"`
}

// seconds since then, in tenths.
func seconds(then time.Time) float64 {
	return float64(time.Since(then).Round(100*time.Millisecond)) / float64(time.Second)
}

func main() {
	o := edge.Options{Say: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }}
	flag.StringVar(&o.BinDir, "bin", "bin", "folder with ironflow, ironflow-agent and ironflow-agent-based")
	flag.IntVar(&o.Hosts, "hosts", 3, "hosts of the control plane: 1, or 3 to 5")
	flag.DurationVar(&o.Stage, "stage", time.Second, "how long each stage of an installation is pretended to take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench edge:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to clean up here
	}
}

func measure(ctx context.Context, o edge.Options) (err error) {
	if o.BinDir, err = filepath.Abs(o.BinDir); err != nil {
		return err
	}
	if o.Dir, err = os.MkdirTemp("", "bench-edge-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the hosts were not installed within %s", limit))
	defer cancel()
	begin := time.Now()
	s, err := edge.Begin(ctx, o)
	defer func() { err = errors.Join(err, s.Close()) }()
	if err != nil {
		return err
	}
	r := result{Hosts: o.Hosts}
	err = s.Watch(ctx, func(hosts []edge.Host) {
		if len(hosts) > 0 && r.RegisteredS == 0 {
			r.RegisteredS = seconds(s.Booted())
		}
		r.Installed = 0
		for _, h := range hosts {
			if h.Installed() {
				r.Installed++
			}
		}
	})
	if err != nil {
		return err
	}
	r.Seconds = seconds(begin)
	peak, err := s.HubPeak()
	if err != nil {
		return err
	}
	r.HubMiB = (peak + 1<<20 - 1) >> 20
	line, err := json.Marshal(r)
	if err == nil {
		_, err = fmt.Println(string(line))
	}
	return err
}
