package install

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// percentStep is the smallest change of percent that the hub is told.
const percentStep = 5

// retry is how failed reports are repeated.
var retry = backoff.Policy{First: time.Second, Factor: 2, Max: 10 * time.Second, Jitter: 0.3}

// patience is how often a report is tried, by what the hub answers: some
// answers may pass soon, others only after a long outage.
func patience(code int) int {
	switch {
	case code == http.StatusNotFound || code == http.StatusLocked || code == http.StatusTooEarly:
		return 10
	case code == 0 || code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code >= http.StatusInternalServerError:
		return 360
	default:
		return 1
	}
}

// Put sends one progress report to the hub.
type Put func(ctx context.Context, progress wire.HostProgress) error

// reporter sends progress in the background: a slow or absent hub must not slow
// the installation down. Stages are sent in order and none is left out; within a
// stage only the newest percent waits.
type reporter struct {
	put Put
	log *slog.Logger

	mu     sync.Mutex
	queue  []wire.HostProgress
	wake   chan struct{}
	idle   chan struct{} // closed while nothing waits
	failed int           // reports given up
	// refused is called for a stage that the hub does not take from this host, before the next one is sent.
	refused func(wire.HostStage)
}

func newReporter(put Put, log *slog.Logger, refused func(wire.HostStage)) *reporter {
	r := &reporter{put: put, log: log, refused: refused, wake: make(chan struct{}, 1), idle: make(chan struct{})}
	close(r.idle)
	return r
}

// send queues a report.
func (r *reporter) send(stage wire.HostStage, info string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := wire.HostProgress{CurrentStage: stage, ProgressInfo: info}
	// The first of the queue may be on its way; it is never changed.
	if n := len(r.queue); n > 1 && r.queue[n-1].CurrentStage == stage {
		r.queue[n-1] = report
	} else {
		if n == 0 {
			r.idle = make(chan struct{})
		}
		r.queue = append(r.queue, report)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// percent queues a figure of a stage.
func (r *reporter) percent(stage wire.HostStage, percent int) {
	r.send(stage, fmt.Sprintf("%d%%", percent))
}

// flush waits until everything has been sent; false when the context ended before.
func (r *reporter) flush(ctx context.Context) bool {
	r.mu.Lock()
	idle := r.idle
	r.mu.Unlock()
	select {
	case <-idle:
		return true
	case <-ctx.Done():
		return false
	}
}

// run sends until the context ends.
func (r *reporter) run(ctx context.Context) {
	for {
		report, ok := r.first()
		if !ok {
			select {
			case <-ctx.Done():
				return
			case <-r.wake:
			}
			continue
		}
		if !r.deliver(ctx, report) {
			return
		}
	}
}

func (r *reporter) first() (wire.HostProgress, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return wire.HostProgress{}, false
	}
	return r.queue[0], true
}

// deliver sends one report with all its retries; false when the context ended.
func (r *reporter) deliver(ctx context.Context, report wire.HostProgress) bool {
	for attempt := 1; ; attempt++ {
		err := r.put(ctx, report)
		if ctx.Err() != nil {
			return false
		}
		if err == nil {
			break
		}
		if attempt >= patience(hubclient.Code(err)) {
			r.log.Error("the hub did not take a progress report", "stage", report.CurrentStage, "info", report.ProgressInfo, "error", err)
			r.mu.Lock()
			r.failed++
			r.mu.Unlock()
			if hubclient.Code(err) == http.StatusConflict {
				r.refused(report.CurrentStage)
			}
			break
		}
		delay := hubclient.Delay(err, retry.Random(attempt))
		r.log.Warn("reporting progress failed", "stage", report.CurrentStage, "retryIn", delay.Round(time.Millisecond), "error", err)
		select {
		case <-ctx.Done():
			return false
		case <-time.After(delay):
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = r.queue[1:]
	if len(r.queue) == 0 {
		close(r.idle)
	}
	return true
}
