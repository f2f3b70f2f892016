package ironic

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
)

// readyTTL is how long an answer of Ready is good.
const readyTTL = 5 * time.Second

// Driver is a hardware type that a conductor offers.
type Driver struct {
	Name string
	// Deploy are its enabled deploy interfaces; empty when Ironic did not tell.
	Deploy []string
}

// health is the last answer to a probe, and the probe that is under way.
type health struct {
	mu      sync.Mutex
	at      time.Time     // of the last answer; zero: none yet
	err     error         // the last answer
	drivers []Driver      // of the last probe that succeeded
	probe   chan struct{} // closed when the probe under way has ended; nil: none is
}

// Drivers are those that the last call of [Gateway.Ready] was told of, sorted by name.
func (g *Gateway) Drivers() []Driver {
	g.health.mu.Lock()
	defer g.health.mu.Unlock()
	return slices.Clone(g.health.drivers)
}

// Ready asks whether Ironic answers and has a live driver: GET /v1/ and GET
// /v1/drivers?detail=true. An answer is good for 5 seconds. Later, the first caller makes one
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
	drivers, err := g.ready(ctx)
	h := &g.health
	h.mu.Lock()
	defer h.mu.Unlock()
	h.at, h.err = time.Now(), err
	if err == nil {
		h.drivers = drivers
	}
	close(h.probe)
	h.probe = nil
}

func (g *Gateway) ready(ctx context.Context) ([]Driver, error) {
	var root struct{}
	if err := g.get(ctx, "probe", "", "", &root); err != nil {
		return nil, err
	}
	var answer struct {
		Drivers []struct {
			Name   string   `json:"name"`
			Deploy []string `json:"enabled_deploy_interfaces"`
		} `json:"drivers"`
	}
	if err := g.get(ctx, "list drivers", "", "drivers?detail=true", &answer); err != nil {
		return nil, err
	}
	if len(answer.Drivers) == 0 {
		return nil, &Error{
			Kind: Unavailable, Op: "list drivers",
			Text: "no conductor offers a driver: Ironic is starting, or its conductor is down",
		}
	}
	drivers := make([]Driver, 0, len(answer.Drivers))
	for _, d := range answer.Drivers {
		drivers = append(drivers, Driver{Name: d.Name, Deploy: d.Deploy})
	}
	slices.SortFunc(drivers, func(a, b Driver) int { return strings.Compare(a.Name, b.Name) })
	return drivers, nil
}
