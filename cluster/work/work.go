// Package work carries out what the deciding packages decide: it reads the hub, looks
// at what the caches have of the cluster, and makes the calls. All that it remembers
// between passes is what saves requests; whatever dies and starts again comes to the
// same end, because the hub and the cluster have the state.
package work

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/cluster/facts"
	"github.com/ironflow/ironflow/cluster/finalize"
	"github.com/ironflow/ironflow/cluster/hubapi"
	"github.com/ironflow/ironflow/cluster/kept"
	"github.com/ironflow/ironflow/cluster/kube"
	"github.com/ironflow/ironflow/cluster/logs"
	"github.com/ironflow/ironflow/cluster/metrics"
	"github.com/ironflow/ironflow/cluster/observe"
	"github.com/ironflow/ironflow/hub/wire"
)

// How often the hub is asked.
const (
	// busy is the protocol's time between two looks while something is going on.
	busy = 30 * time.Second
	// rest is the same when nothing is; a change in the cluster is seen at once anyway.
	rest = 4 * time.Minute
	// gap is the least time between two passes.
	gap = time.Second
	// unheard is the least and most time until a hub that did not answer is asked again.
	unheard, longUnheard = 2 * time.Second, time.Minute
	// logsEvery is the protocol's time between two uploads of logs.
	logsEvery = 5 * time.Minute
	// completeEvery is how often a hub is told the end that it does not draw conclusions from.
	completeEvery = 5 * time.Minute
	// refusals are how many 401 in a row mean that the token is nobody's any more.
	refusals = 3
)

// Outcome is why the program ends.
type Outcome string

// Outcomes besides those of package finalize.
const (
	Refused     Outcome = "refused"
	Unknown     Outcome = "unknown"
	Unreachable Outcome = "unreachable"
	Stopped     Outcome = "stopped"
)

// Runner works on one cluster. All exported fields but Sleep are needed.
type Runner struct {
	Hub     *hubapi.Client
	Kube    *kube.Client
	Caches  *observe.Caches
	Metrics *metrics.Metrics
	Log     *slog.Logger
	Ring    *logs.Ring
	Now     func() time.Time
	// Probe says why the API at an address does not answer; empty when it does.
	Probe func(ctx context.Context, address string) string
	// Stay tells to go on with signing requests and hosts of later days.
	Stay bool
	// StartWithin is how long the hub may be away at the start.
	StartWithin time.Duration
	// HubLeaves tells that the hub runs on one of the cluster's hosts, and ends with its live
	// system: the last that was known holds from then on.
	HubLeaves bool
	// Busy, Rest and Gap replace the times between looks, and Gone that until the hub counts as
	// gone, for tests; zero for ours.
	Busy, Rest, Gap, Gone time.Duration

	memory memory
}

// memory saves requests, and nothing else.
type memory struct {
	heard    bool
	refused  int
	failures int
	// approved and said are settled signing requests by UID and reason, told those that the hub has
	// heard of, and failed those of which it has heard that they could not be approved.
	approved, said, told, failed map[string]bool
	budget                       budget
	// looked has requests by UID that wait for something new of their node, turn the name of the one that was
	// looked at last, and seed is that of their sums.
	looked map[string]looked
	turn   string
	seed   maphash.Seed
	// labels are hosts whose labels the API server would not have.
	labels            map[string]bool
	waits             string
	completed, logged time.Time
	lastLogs          bool
	staying           atomic.Bool
	api               map[string]string
	// answered is when the hub answered last, record what is known without it, and kept what
	// of that is written.
	answered time.Time
	record   *kept.Record
	kept     string
}

// view is what a pass decides by.
type view struct {
	cluster facts.Cluster
	hosts   []facts.Host
	nodes   map[string]facts.Node
	// alone tells that the hub has ended.
	alone bool
}

// Run works until the installation is over, or the context ends.
func (r *Runner) Run(ctx context.Context) (Outcome, error) {
	r.memory.approved, r.memory.said, r.memory.labels = map[string]bool{}, map[string]bool{}, map[string]bool{}
	r.memory.told, r.memory.failed = map[string]bool{}, map[string]bool{}
	r.memory.looked, r.memory.seed = map[string]looked{}, maphash.MakeSeed()
	began := r.Now()
	r.memory.answered = began
	for {
		delay, outcome, err := r.pass(ctx)
		switch {
		case ctx.Err() != nil:
			return Stopped, nil //nolint:nilerr // the program was told to stop
		case outcome != "":
			return outcome, err
		case err != nil:
			r.memory.failures++
			r.Log.Warn("the hub cannot be told or asked; trying again", "error", err)
			delay = r.retry(err)
		default:
			r.memory.failures = 0
		}
		if !r.memory.heard && r.Now().Sub(began) > r.StartWithin {
			return Unreachable, fmt.Errorf("the hub did not answer for %s: %w", r.StartWithin, err)
		}
		if !r.wait(ctx, delay, err == nil) {
			return Stopped, nil
		}
	}
}

// retry is when a hub that did not do its part is asked again.
func (r *Runner) retry(err error) time.Duration {
	delay := min(unheard<<min(r.memory.failures-1, 5), longUnheard)
	if status, ok := errors.AsType[*hubapi.StatusError](err); ok {
		delay = max(delay, status.RetryAfter)
	}
	if r.Gap > 0 {
		delay = r.Gap
	}
	return delay + time.Duration(rand.Int64N(int64(delay)/4+1)) //nolint:gosec // spreads requests
}

// wait waits for the delay, or, after the least gap, for a change in the cluster.
func (r *Runner) wait(ctx context.Context, delay time.Duration, wake bool) bool {
	least := r.or(r.Gap, gap)
	timer := time.NewTimer(min(least, delay))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	}
	if delay <= least {
		return true
	}
	changed := r.Caches.Changed
	if !wake {
		changed = nil
	}
	timer.Reset(delay - least)
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case <-changed:
	}
	return true
}

func (r *Runner) or(own, usual time.Duration) time.Duration {
	if own > 0 {
		return own
	}
	return usual
}

// pass looks and acts once. It returns when to look again: at once after a change.
func (r *Runner) pass(ctx context.Context) (time.Duration, Outcome, error) {
	select {
	case <-r.Caches.Changed: // what has changed until now is seen by this pass
	default:
	}
	v, outcome, err := r.look(ctx)
	if delay, end, did := r.alone(ctx, err); did {
		return delay, end, nil
	}
	if outcome != "" || err != nil {
		return 0, outcome, err
	}
	if r.HubLeaves {
		r.keep(ctx, kept.Of(v.cluster, v.hosts))
	}
	v.nodes = r.Caches.Nodes.All()
	r.sign(ctx, v)
	if !r.Caches.Ready() {
		return r.or(r.Busy, busy), "", nil
	}
	changed, err := r.report(ctx, v)
	if err != nil {
		return 0, "", err
	}
	if changed {
		return 0, "", nil
	}
	step := r.next(ctx, v)
	if step.Waits != r.memory.waits {
		r.memory.waits = step.Waits
		r.Log.Info("waiting", "stage", v.cluster.Stage, "for", step.Waits)
	}
	acted, err := r.act(ctx, v, step)
	if err != nil {
		return 0, "", err
	}
	if step.End != "" {
		return r.end(ctx, v, step.End)
	}
	r.memory.staying.Store(false)
	r.memory.lastLogs = false
	r.periodicLogs(ctx, v)
	if acted {
		return 0, "", nil
	}
	return r.or(r.Busy, busy), "", nil
}

// look reads the hub's records of the cluster.
func (r *Runner) look(ctx context.Context) (view, Outcome, error) {
	cluster, err := r.Hub.Cluster(ctx)
	switch hubapi.Code(err) {
	case http.StatusUnauthorized:
		if r.memory.refused++; r.memory.refused >= refusals {
			return view{}, Refused, err
		}
		return view{}, "", errors.Join(err, r.Hub.ReloadToken())
	case http.StatusNotFound:
		return view{}, Unknown, err
	}
	if err != nil {
		return view{}, "", err
	}
	hosts, err := r.Hub.Hosts(ctx)
	if err != nil {
		return view{}, "", err
	}
	if !r.memory.heard {
		r.Log.Info("the hub knows the cluster", "cluster", cluster.Name, "status", cluster.Status, "hosts", len(hosts))
	}
	r.memory.heard, r.memory.refused = true, 0
	stages := map[string]int{}
	for _, h := range hosts {
		stages[string(h.Stage)]++
	}
	r.Metrics.Heard(float64(r.Now().Unix()), stages)
	return view{cluster: cluster, hosts: hosts}, "", nil
}

// end finishes, or goes on with what later days bring.
func (r *Runner) end(ctx context.Context, v view, end finalize.End) (time.Duration, Outcome, error) {
	if !r.memory.lastLogs {
		r.memory.lastLogs = true
		if !r.Stay || v.cluster.LogsCollectedAt.IsZero() {
			if err := r.upload(ctx, v); err != nil {
				r.Log.Warn("the hub has not taken the last logs", "error", err)
			}
		}
	}
	if !r.Stay {
		return 0, Outcome(end), nil
	}
	if !r.memory.staying.Swap(true) {
		r.Log.Info("the installation is over; signing requests and hosts of later days are looked after", "end", end)
	}
	if slices.ContainsFunc(v.hosts, joining) {
		return r.or(r.Busy, busy), "", nil
	}
	return r.or(r.Rest, rest), "", nil
}

// joining tells of a host that is on its way.
func joining(h facts.Host) bool {
	return h.Status == wire.HostStatusInstalling || h.Status == wire.HostStatusInstallingInProgress || h.Status == wire.HostStatusInstallingPendingUserAction
}

// Staying tells that the installation is over and nothing is left but later days.
func (r *Runner) Staying() bool { return r.memory.staying.Load() }
