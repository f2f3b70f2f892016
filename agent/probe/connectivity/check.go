package connectivity

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// limit bounds the whole check.
	limit = 30 * time.Second
	// reserve is what a slow machine may be late; the rest is for the probes.
	reserve = 5 * time.Second
	// mtuRequests are the packets of each series of an MTU check.
	mtuRequests = 3
)

// check asks the network.
func check(ctx context.Context, env probe.Env, hosts wire.ConnectivityCheckParams) steps.Result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	own, err := env.Interfaces(ctx)
	if err != nil {
		return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
	}
	p := makePlan(own, hosts)
	found := newFindings(p)
	found.pace = netprobe.Spread(p.weight(), remaining(ctx))
	if found.table, err = netprobe.OpenTable(); err != nil {
		env.Log.Warn("the kernel's neighbours cannot be listed", "error", err)
	}
	for _, nic := range usable(own) {
		if device, err := net.InterfaceByName(nic.Name); err == nil {
			found.indexes = append(found.indexes, device.Index)
		}
	}
	done := found.gather(ctx)
	found.again(ctx)
	if done < p.probes() || found.failed != nil {
		env.Log.Warn("not all hosts could be asked", "probes", p.probes(), "made", done-found.failures, "error", found.failed)
	}
	return steps.JSON(wire.ConnectivityReport{RemoteHosts: found.report(hosts)})
}

// findings is what the probes of a plan found. A probe that was not made, or
// could not be sent, has found nothing.
type findings struct {
	plan
	pace  netprobe.Pace
	links netprobe.Links
	// table is nil where the kernel's neighbours cannot be listed.
	table *netprobe.Table
	// indexes are the own interfaces'.
	indexes []int

	mu     sync.Mutex
	echoed map[netip.Addr]netprobe.EchoResult
	owners map[neighborProbe][]netprobe.MAC
	// fits holds the MTU checks whose small packets arrived, and whether large ones did.
	fits map[mtuProbe]bool
	// failures counts what could not be sent; failed is the first reason.
	failures int
	failed   error
}

func newFindings(p plan) *findings {
	return &findings{
		plan:   p,
		echoed: map[netip.Addr]netprobe.EchoResult{}, owners: map[neighborProbe][]netprobe.MAC{}, fits: map[mtuProbe]bool{},
	}
}

// gather makes all probes of the plan and returns how many it came to.
func (f *findings) gather(ctx context.Context) int {
	defer f.links.Close()
	n, m := len(f.echoes), len(f.neighbors)
	return netprobe.Each(ctx, f.probes(), func(i int) {
		switch {
		case i < n:
			f.note(f.echo(ctx, f.echoes[i]))
		case i < n+m:
			f.note(f.ask(ctx, f.neighbors[i-n]))
		default:
			f.note(f.size(ctx, f.mtus[i-n-m]))
		}
	})
}

// again pings those that were silent once more, with the time that is left: in a
// large cluster the first round is brisk, and a host may have been busy.
func (f *findings) again(ctx context.Context) {
	left := remaining(ctx)
	if left <= 0 || f.pace.Wait >= netprobe.LongestWait {
		return
	}
	var silent []netip.Addr
	for _, remote := range f.echoes {
		if echo, ok := f.echoed[remote]; ok && echo.Received == 0 {
			silent = append(silent, remote)
		}
	}
	f.pace = netprobe.Spread(len(silent), left)
	netprobe.Each(ctx, len(silent), func(i int) { _ = f.echo(ctx, silent[i]) }) // the reason is known from the first time
}

// remaining is the time that probes can be spread over.
func remaining(ctx context.Context) time.Duration {
	end, _ := ctx.Deadline() // check has set one
	return max(time.Until(end)-reserve, 0)
}

// note keeps the first reason why a probe could not be made.
func (f *findings) note(err error) {
	if err == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failures++
	if f.failed == nil {
		f.failed = err
	}
}

// echo pings a remote address over the routes.
func (f *findings) echo(ctx context.Context, remote netip.Addr) error {
	result, err := netprobe.Ping(ctx, netprobe.Echo{Target: remote, Pace: f.pace})
	f.table.Forget(remote, f.indexes)
	f.mu.Lock()
	defer f.mu.Unlock()
	if ctx.Err() == nil || result.Received > 0 {
		f.echoed[remote] = result
	}
	return err
}

// ask finds the owners of a remote address on an own NIC.
func (f *findings) ask(ctx context.Context, p neighborProbe) error {
	on, err := f.links.Neighbors(p.nic, p.remote)
	if err != nil {
		return err
	}
	source := f.sources[p]
	if source.Is6() {
		source = netprobe.LinkLocal(p.nic, source)
	}
	owners, err := on.Owners(ctx, source, p.remote, f.pace)
	if len(owners) > 0 {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.owners[p] = owners
	}
	return err
}

// size finds out whether the largest packet of a NIC arrives, if small ones do.
func (f *findings) size(ctx context.Context, p mtuProbe) error {
	pace := f.pace
	pace.Requests = mtuRequests
	small, err := netprobe.Ping(ctx, netprobe.Echo{Target: p.remote, NIC: p.nic, Pace: pace})
	if err != nil || small.Received == 0 {
		return err
	}
	// What cannot even be sent does not fit.
	large, _ := netprobe.Ping(ctx, netprobe.Echo{Target: p.remote, NIC: p.nic, Payload: p.payload(), DontFragment: true, Pace: pace})
	f.table.Forget(p.remote, f.indexes)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.fits[p] = large.Received > 0
	return nil
}
