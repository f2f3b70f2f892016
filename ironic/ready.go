package ironic

import (
	"context"
	"sync"
	"time"
)

// readyTTL is how long an answer of Ready is good.
const readyTTL = 5 * time.Second

// health is the last answer to a probe, and the probe that is under way.
type health struct {
	mu    sync.Mutex
	at    time.Time     // of the last answer; zero: none yet
	err   error         // the last answer
	probe chan struct{} // closed when the probe under way has ended; nil: none is
}

// Ready asks whether Ironic answers and has a live driver: GET /v1/ and GET
// /v1/drivers. An answer is good for 5 seconds. Later, the first caller makes one
// probe for all; meanwhile the others get the last answer, so that an Ironic that
// keeps silent holds up one caller, not everybody.
func (g *Gateway) Ready(ctx context.Context) error {
	h := &g.health
	h.mu.Lock()
	age := time.Since(h.at)
	if !h.at.IsZero() && age < readyTTL {
		defer h.mu.Unlock()
		return h.err
	}
	first := h.probe == nil
	if first {
		h.probe = make(chan struct{})
		go g.probe(context.WithoutCancel(ctx))
	}
	probe, last := h.probe, h.err
	usable := !h.at.IsZero() && age < 2*g.config.Timeout+2*readyTTL // a probe is two requests
	h.mu.Unlock()
	if usable && !first {
		return last
	}
	select {
	case <-probe:
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// probe asks, and records the answer. Each of its requests has its time-out.
func (g *Gateway) probe(ctx context.Context) {
	err := g.ready(ctx)
	h := &g.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = time.Now(), err
	close(h.probe)
	h.probe = nil
}

func (g *Gateway) ready(ctx context.Context) error {
	var root struct{}
	if err := g.get(ctx, "probe", "", "", &root); err != nil {
		return err
	}
	var drivers struct {
		Drivers []struct {
			Name  string   `json:"name"`
			Hosts []string `json:"hosts"`
		} `json:"drivers"`
	}
	if err := g.get(ctx, "list drivers", "", "drivers", &drivers); err != nil {
		return err
	}
	if len(drivers.Drivers) == 0 {
		return &Error{
			Kind: Unavailable, Op: "list drivers",
			Text: "no conductor offers a driver: Ironic is starting, or its conductor is down",
		}
	}
	return nil
}
