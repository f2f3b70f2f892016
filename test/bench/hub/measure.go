package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/test/bench/usage"
)

// figures are the numbers of the last line.
type figures struct {
	Agents      int     `json:"agents"`
	Database    string  `json:"database"`
	Cores       float64 `json:"cores"`
	RSS         float64 `json:"rss_mib"`
	Instruction float64 `json:"instruction_p99_ms"`
	Reaction    float64 `json:"reaction_p99_ms"`
	Polls       float64 `json:"polls_per_s"`
	PollsTLS    float64 `json:"polls_tls_per_s"`
	Storm       float64 `json:"storm_s"`
	Clusters    float64 `json:"clusters_s"`
	Start       float64 `json:"start_s"`
	List        float64 `json:"list_mib"`
	RefusedMost float64 `json:"refused_most"`
	Deadlines   float64 `json:"deadlines"`
	// Prepare is in seconds, PrepareMemory in MiB beyond rest.
	Prepare       float64 `json:"prepare_s"`
	PrepareMemory float64 `json:"prepare_mib"`
}

// limits are those of the figures for 10,000 hosts and 500 clusters, on two cores that do nothing
// else; a negative one is the least.
var limits = map[string]float64{
	"cores": 0.5, "rss_mib": 500, "instruction_p99_ms": 50, "reaction_p99_ms": 100, "polls_per_s": -10_000,
	"storm_s": 180, "clusters_s": 300, "start_s": 2, "list_mib": 50, "refused_most": 0, "deadlines": 0,
	"prepare_s": 10, "prepare_mib": 100,
}

// saturateTime is how long the closed loops poll.
const saturateTime = 20 * time.Second

// measure takes all figures and prints them.
func measure(ctx context.Context, o options) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop(context.WithoutCancel(ctx))) }()
	f := figures{Agents: o.agents, Database: o.database}
	for _, part := range []func(context.Context, *figures) error{w.fleet, w.saturate, w.list, w.restart, w.installations, w.prepare} {
		if err := part(ctx, &f); err != nil {
			return fmt.Errorf("%w\n%s", err, w.hub.Tail())
		}
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return verdict(raw, limits)
}

// verdict is every limit that was missed.
func verdict(raw []byte, limits map[string]float64) error {
	var values map[string]any
	if err := json.Unmarshal(raw, &values); err != nil {
		return err
	}
	var errs []error
	for name, limit := range limits {
		value, ok := values[name].(float64)
		switch {
		case !ok, limit >= 0 && value > limit:
			errs = append(errs, fmt.Errorf("%s is %v, more than %v", name, values[name], limit))
		case limit < 0 && value < -limit:
			errs = append(errs, fmt.Errorf("%s is %v, less than %v", name, value, -limit))
		}
	}
	return errors.Join(errs...)
}

// run starts the process with the load and hands its events to on.
func (w *world) run(ctx context.Context, o order, on func(event) error) error {
	o.CA = w.hub.CA
	if o.URL == "" {
		o.URL = w.hub.URL
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	command := exec.CommandContext(ctx, self, "-load")
	if o.Phase == "hostile" { // it would be on a computer of its own: the hub's processors are not for its work
		command = exec.CommandContext(ctx, "nice", "-n", "19", self, "-load")
	}
	command.Stdin = strings.NewReader(text(o)) // it holds tokens, and is too long for an argument
	command.Stderr = os.Stderr
	out, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20) // the tokens of all hosts are one line
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return fmt.Errorf("the load says %q: %w", lines.Text(), err)
		}
		if e.Name == tokensGiven {
			w.tokens = e.Tokens
		}
		fmt.Printf("%s  %s %v\n", time.Now().Format(time.TimeOnly), e.Name, e.Figures)
		if len(e.Errors) > 0 {
			return fmt.Errorf("%s: calls failed: %v", e.Name, e.Errors)
		}
		if err := on(e); err != nil {
			return err
		}
	}
	return command.Wait()
}

// fleet boots the fleet and watches it at rest.
func (w *world) fleet(ctx context.Context, f *figures) error {
	w.profile(ctx, "boot", profileTime)
	var before usage.Process
	var begun time.Time
	return w.run(ctx, order{Phase: "live", Groups: w.groups, Boot: w.options.boot, Settle: w.options.settle, Window: w.options.window, Reactions: 100}, func(e event) error {
		u, err := w.used()
		if err != nil {
			return err
		}
		switch e.Name {
		case allJudged:
			f.Storm = round(e.Figures["seconds"])
			f.RefusedMost, f.Deadlines = e.Figures["refused_most"], e.Figures["deadlines"]
			return w.allJudged(ctx)
		case windowBegin:
			before, begun = u, time.Now()
			w.profile(ctx, "rest", profileTime)
		case windowEnd:
			f.Cores = round((u.CPU - before.CPU).Seconds() / time.Since(begun).Seconds())
			f.RSS, f.Instruction = mib(u.Resident), round(e.Figures["p99_ms"])
			fmt.Printf("at rest: %.3f cores, %.0f MiB, %.0f polls a second\n", f.Cores, f.RSS, e.Figures["count"]/w.options.window.Seconds())
		case reacted:
			f.Reaction = round(e.Figures["p99_ms"])
		}
		return nil
	})
}

// saturate polls in a closed loop, without TLS as behind a proxy that ends it, and with.
func (w *world) saturate(ctx context.Context, f *figures) error {
	for _, loop := range []struct {
		name, url string
		figure    *float64
	}{{"plain", w.hub.PlainURL, &f.Polls}, {"tls", w.hub.URL, &f.PollsTLS}} {
		w.profile(ctx, "polls-"+loop.name, saturateTime)
		before, err := w.used()
		if err != nil {
			return err
		}
		err = w.run(ctx, order{Phase: "saturate", URL: loop.url, Groups: w.groups, Tokens: w.tokens, Window: saturateTime}, func(e event) error {
			*loop.figure = math.Round(e.Figures["per_s"])
			return nil
		})
		if err != nil {
			return err
		}
		after, err := w.used()
		if err != nil {
			return err
		}
		fmt.Printf("%.0f polls a second (%s), for which the hub took %.2f cores\n", *loop.figure, loop.name, (after.CPU-before.CPU).Seconds()/saturateTime.Seconds())
	}
	return nil
}

// list reads all hosts of the pool, which is the longest list, and sees what that takes in memory.
func (w *world) list(ctx context.Context, f *figures) error {
	before, err := w.used()
	if err != nil {
		return err
	}
	for _, pid := range w.pids() {
		if err := usage.ForgetPeak(pid); err != nil {
			return err
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.hub.URL+rest.Base+"/v2/infra-envs/"+w.groups[0].InfraEnv+"/hosts", http.NoBody)
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+userToken)
	answer, err := w.user.http.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	size, err := io.Copy(io.Discard, answer.Body)
	if err != nil {
		return err
	}
	after, err := w.used()
	if err != nil {
		return err
	}
	f.List = round(mib(max(0, after.Peak-before.Resident)))
	fmt.Printf("a list of %d hosts: %.0f MiB, %.0f MiB more memory\n", w.groups[0].Size, mib(size), f.List)
	return nil
}

// restart kills the hub and starts it on its records.
func (w *world) restart(ctx context.Context, f *figures) error {
	w.hub.Kill()
	begin := time.Now()
	if err := w.hub.Start(ctx); err != nil {
		return err
	}
	f.Start = round(time.Since(begin).Seconds())
	fmt.Printf("started on %d hosts in %.2f s\n", w.options.agents, f.Start)
	return nil
}

// installations takes clusters through a whole installation, beside the records of the fleet.
func (w *world) installations(ctx context.Context, f *figures) error {
	groups, err := w.threes(ctx, w.options.clusters, w.options.agents, "install")
	if err != nil {
		return err
	}
	return w.run(ctx, order{Phase: "install", Groups: groups, Boot: 30 * time.Second}, func(e event) error {
		f.Clusters = round(e.Figures["seconds"])
		return nil
	})
}

func mib(bytes int64) float64 { return math.Round(float64(bytes) / (1 << 20)) }

func round(v float64) float64 { return math.Round(v*1000) / 1000 }
