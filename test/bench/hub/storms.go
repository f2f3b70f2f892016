package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// overload are the numbers of the last line where the hub has CPUs for itself.
type overload struct {
	Agents   int    `json:"agents"`
	Database string `json:"database"`
	HubCPUs  string `json:"hub_cpus"`
	// Storm is of all hosts, Half of half of them, Ratio how many times longer the first took.
	Storm float64 `json:"storm_s"`
	Half  float64 `json:"half_storm_s"`
	Ratio float64 `json:"storm_ratio"`
	// CPU is what the hub took for a host until all were judged, in milliseconds.
	CPU float64 `json:"cpu_ms_per_host"`
	// RefusedMost is how often that host was refused which was refused most, Refusals all together.
	RefusedMost float64 `json:"refused_most"`
	Refusals    float64 `json:"refusals"`
	// Deadlines are calls that were not answered while an agent waits, and looks of the hub that came to no end.
	Deadlines float64 `json:"deadlines"`
	Panics    float64 `json:"panics"`
}

// overloadLimits are those of 10,000 hosts and one CPU.
var overloadLimits = map[string]float64{
	"storm_s": 240, "storm_ratio": 2.2, "refused_most": 1, "deadlines": 0, "panics": 0,
}

// storms lets half of the fleet boot, and then all of it at a new hub.
func storms(ctx context.Context, o options) error {
	f := overload{Agents: o.agents, Database: o.database, HubCPUs: o.hubCPUs}
	o.agents /= 2
	for _, fleets := range []int{1, 2} { // twice the same, so that they differ in nothing else
		o.fleets = fleets
		f.Half = f.Storm
		if err := storm(ctx, o, &f); err != nil {
			return err
		}
	}
	f.Ratio = round(f.Storm / f.Half)
	raw, err := json.Marshal(f)
	if err != nil {
		return err
	}
	fmt.Println(string(raw))
	return verdict(raw, overloadLimits)
}

// storm boots a fleet until all of it is judged.
func storm(ctx context.Context, o options, f *overload) (err error) {
	w, err := newWorld(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.stop(context.WithoutCancel(ctx))) }()
	w.profile(ctx, fmt.Sprint("storm-", o.agents*o.fleets), profileTime)
	err = w.run(ctx, order{Phase: "live", Groups: w.groups, Boot: o.boot, Window: time.Second}, func(e event) error {
		if e.Name != allJudged {
			return nil
		}
		used, err := w.used()
		if err != nil {
			return err
		}
		f.Storm, f.CPU = round(e.Figures["seconds"]), round(used.CPU.Seconds()*1000/float64(o.agents*o.fleets))
		f.Refusals += e.Figures["refusals"]
		f.RefusedMost = max(f.RefusedMost, e.Figures["refused_most"])
		f.Deadlines += e.Figures["deadlines"]
		return w.allJudged(ctx)
	})
	if err != nil {
		return fmt.Errorf("%w\n%s", err, w.hub.Tail())
	}
	log, err := os.ReadFile(w.hub.Log)
	if err != nil {
		return err
	}
	f.Panics += float64(strings.Count(string(log), "panic"))
	f.Deadlines += float64(strings.Count(string(log), "deadline exceeded") + strings.Count(string(log), "could be looked at"))
	return nil
}
