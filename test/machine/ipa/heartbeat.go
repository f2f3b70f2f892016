package ipa

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"
)

// Pace is how patient the agent is. The zero value of a field is the real
// agent's figure.
type Pace struct {
	// Forced is the least time between two heartbeats, when a command has ended
	// in between; 5 s.
	Forced time.Duration
	// Retry is the least time from a refused heartbeat to the next, at most twice as much passes; 5 s.
	Retry time.Duration
	// Lookup is the pause after the first failed look-up, which doubles up to ten times as much; 1 s.
	Lookup time.Duration
	// Conflict is the pause after a look-up that met a locked node; 5 s.
	Conflict time.Duration
	// Inspect is the pause between attempts to hand the inventory to an Ironic
	// that does not wait for it yet; 1 s. The real agent makes one attempt.
	Inspect time.Duration
}

func (p Pace) withDefaults() Pace {
	for _, d := range []struct {
		to   *time.Duration
		real time.Duration
	}{
		{&p.Forced, 5 * time.Second},
		{&p.Retry, 5 * time.Second},
		{&p.Lookup, time.Second},
		{&p.Conflict, 5 * time.Second},
		{&p.Inspect, time.Second},
	} {
		if *d.to == 0 {
			*d.to = d.real
		}
	}
	return p
}

// heartbeater sends heartbeats: the first at once, then each 0.3 to 0.6 of the
// timeout that Ironic gave, sooner after a command has ended.
type heartbeater struct {
	pace    Pace
	timeout time.Duration
	send    func(context.Context) error
	log     *slog.Logger
	// forced wants a heartbeat soon, prompt wants it now.
	forced, prompt chan struct{}
}

func newHeartbeater(pace Pace, timeout time.Duration, send func(context.Context) error, log *slog.Logger) *heartbeater {
	return &heartbeater{
		pace: pace, timeout: timeout, send: send, log: log,
		forced: make(chan struct{}, 1), prompt: make(chan struct{}, 1),
	}
}

// signal marks the channel without waiting.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (h *heartbeater) run(ctx context.Context) {
	var previous time.Time
	var interval time.Duration
	forced := false
	for {
		due := previous.Add(interval)
		if early := previous.Add(h.pace.Forced); forced && early.Before(due) {
			due = early
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-h.forced:
			timer.Stop()
			forced = true
			continue
		case <-h.prompt:
			timer.Stop()
		case <-timer.C:
		}
		if err := h.send(ctx); err != nil {
			h.log.Warn("heartbeat refused", "error", err)
			interval = jitter(h.pace.Retry, 1, 2)
		} else {
			forced = false
			interval = jitter(h.timeout, 0.3, 0.6)
		}
		previous = time.Now()
	}
}

func jitter(d time.Duration, low, high float64) time.Duration {
	return time.Duration(float64(d) * (low + rand.Float64()*(high-low))) //nolint:gosec // spreads heartbeats, guards nothing
}
