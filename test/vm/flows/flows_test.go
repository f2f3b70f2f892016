//go:build machine

package flows

import (
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/ironflow/ironflow/agent/scenario"
	"github.com/ironflow/ironflow/test/scenario/generate"
	"github.com/ironflow/ironflow/test/vm/lan"
)

// group are flows in a world of their own, one after another.
type group struct {
	name   string
	change func(*Options)
	flows  []namedFlow
}

type namedFlow struct {
	name string
	run  func(f *flow)
}

// lanes are the groups that run beside each other: while the machine of one waits, as
// for the hub's patience or Ironic's, that of the other has the processors. In both it
// is one machine at a time. Worlds that are there at once have different networks.
func lanes() [2][]group {
	beside := lan.Options{Prefix: netip.MustParsePrefix("172.21.0.1/24")}
	return [2][]group{
		{
			{"disk", nil, []namedFlow{
				{"restarted", restarted}, {"there and back", thereAndBack}, {"disk fails", diskFails}, {"power cut", powerCut},
			}},
		},
		{
			// What is done to the image server would meet every machine of the world. A
			// medium that has gone shows when Ironic has waited long enough.
			{"medium", func(o *Options) { o.Network, o.InspectionLimit = beside, 12*time.Minute }, []namedFlow{
				{"medium gone", mediumGone}, {"survives", survives},
			}},
			{"cluster", func(o *Options) { o.Network, o.Simulated = beside, rehearsed() }, []namedFlow{{"of three", clusterOfThree}}},
			{"without DHCP", func(o *Options) { o.Network = quiet() }, []namedFlow{
				{"live ISO", liveISO}, {"static address and classic image", staticAddress}, {"VLAN on a bond", vlanOnBond},
			}},
		},
	}
}

// rehearsed are the simulated hosts of the cluster.
func rehearsed() []*scenario.Scenario {
	return generate.Machines(2, generate.Options{Prefix: "rehearsed-"})
}

// TestFlows are the flows, in two lanes.
func TestFlows(t *testing.T) {
	var both sync.WaitGroup
	for _, lane := range lanes() {
		both.Go(func() {
			for _, g := range lane {
				t.Run(g.name, g.run)
			}
		})
	}
	both.Wait()
}

func (g group) run(t *testing.T) {
	var changes []func(*Options)
	if g.change != nil {
		changes = append(changes, g.change)
	}
	w := newWorld(t, changes...)
	for _, c := range g.flows {
		t.Run(c.name, func(t *testing.T) { c.run(newFlow(t, w)) })
	}
}

// TestInstalled is the way there alone, for CI and for a site's own live ISO.
func TestInstalled(t *testing.T) { installed(newFlow(t, newWorld(t))) }
