// Package inventory collects what a host is: CPU, memory, disks, interfaces,
// routes, firmware, BMC, accelerators. Collectors run in parallel, each with a
// deadline; what does not arrive in time is left out rather than waited for. A
// [Collector] reads one part; [Host] returns those of this machine, [Machine]
// those of any, also a recorded one, and [Scenario] those of a pretended one.
// What the parts are is in the packages below; they see the machine through
// package source only and start no program. The result prints exactly as the
// protocol's emit rules say.
package inventory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
)

// Deadline bounds one collector.
const Deadline = 8 * time.Second

// Apply puts what a collector found into the inventory.
type Apply func(*wire.Inventory)

// Collector reads one part of the inventory. Collect must heed its context; if
// it does not, it is left behind.
type Collector struct {
	Name    string
	Collect func(ctx context.Context) (Apply, error)
}

// ErrEmpty means that no collector brought anything.
var ErrEmpty = errors.New("the inventory is empty: no collector answered")

// Gather runs all collectors at once and puts their parts together in the order
// of the list. A failed or late collector is logged and left out.
func Gather(ctx context.Context, collectors []Collector, log *slog.Logger) (wire.Inventory, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	type part struct {
		index int
		apply Apply
		err   error
	}
	parts := make(chan part, len(collectors)) // a late collector must not block for ever
	for i, c := range collectors {
		go func() {
			apply, err := collect(ctx, c)
			parts <- part{i, apply, err}
		}()
	}
	arrived := map[int]part{}
	for late := false; len(arrived) < len(collectors) && !late; {
		select {
		case p := <-parts:
			arrived[p.index] = p
		case <-ctx.Done():
			late = true
		}
	}
	inv, filled := empty(), false
	for i, c := range collectors {
		p, ok := arrived[i]
		switch {
		case !ok:
			log.Warn("a part of the inventory is late and left out", "part", c.Name)
		case p.err != nil:
			log.Warn("a part of the inventory is missing", "part", c.Name, "error", p.err)
		default:
			p.apply(&inv)
			filled = true
		}
	}
	if !filled {
		return inv, ErrEmpty
	}
	return inv, nil
}

// collect runs one collector; a panic on odd hardware costs only its part.
func collect(ctx context.Context, c Collector) (apply Apply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("collector %s: %v", c.Name, p)
		}
	}()
	return c.Collect(ctx)
}

// empty is an inventory with the members that are always present.
func empty() wire.Inventory {
	return wire.Inventory{
		BmcAddress: "0.0.0.0", BmcV6address: "::/0",
		Disks: []wire.Disk{}, GPUs: []wire.Gpu{}, Interfaces: []wire.Interface{}, Routes: []wire.Route{},
	}
}

// Network picks the collectors that tell of a host's interfaces, for those who
// need nothing else.
func Network(collectors []Collector) []Collector {
	return slices.DeleteFunc(slices.Clone(collectors), func(c Collector) bool {
		return !slices.Contains([]string{partNetwork, partScenario, partForced}, c.Name)
	})
}

// Names of the collectors that [Network] picks.
const (
	partNetwork  = "network"
	partScenario = "scenario"
	partForced   = "forced identity"
)
