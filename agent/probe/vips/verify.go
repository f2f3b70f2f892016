package vips

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// pace asks a virtual address often enough for a lossy network.
var pace = netprobe.Pace{Requests: 8, Interval: 250 * time.Millisecond, Wait: 2 * time.Second}

// verify asks for all addresses at once. What cannot be asked for is left out,
// so that the hub keeps it unverified; if that is so for all, the check failed.
func verify(ctx context.Context, env probe.Env, vips wire.VerifyVIPsRequest) steps.Result {
	nics, err := env.Interfaces(ctx)
	if err != nil {
		return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
	}
	own := netprobe.OwnAddresses(nics)
	used, errs := make([]bool, len(vips)), make([]error, len(vips))
	var links netprobe.Links
	defer links.Close()
	asked := netprobe.Each(ctx, len(vips), func(i int) {
		used[i], errs[i] = inUse(ctx, &links, own, string(vips[i].VIP))
	})
	for i := asked; i < len(vips); i++ {
		errs[i] = fmt.Errorf("ask for %s: %w", vips[i].VIP, context.Cause(ctx))
	}
	out := wire.VerifyVIPsResponse{}
	for i, v := range vips {
		verification := wire.VIPVerificationSucceeded
		switch {
		case errs[i] != nil && !used[i]:
			env.Log.Warn("a virtual address cannot be asked for", "error", errs[i])
			continue
		case used[i]:
			verification = wire.VIPVerificationFailed
		}
		out = append(out, wire.VerifiedVIP{VIP: v.VIP, VIPType: v.VIPType, Verification: &verification})
	}
	if len(out) == 0 && len(vips) > 0 {
		return steps.Failed(steps.ExitBad, "%v", errors.Join(errs...))
	}
	return steps.JSON(out)
}

// inUse tells whether somebody has the address: on the link of each
// interface in its network; without one, over the routes.
func inUse(ctx context.Context, links *netprobe.Links, own []netprobe.Own, text string) (bool, error) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		return false, err
	}
	address = address.Unmap()
	through := map[string]netprobe.Own{}
	for _, o := range own {
		if o.Address.Addr() == address {
			return true, nil
		}
		if o.Address.Contains(address) {
			through[o.NIC] = o
		}
	}
	used, asked := false, false
	for _, o := range through {
		found, problem := askOn(ctx, links, o, address)
		used, asked, err = used || found, asked || problem == nil, errors.Join(err, problem)
	}
	if len(through) == 0 {
		echo, problem := netprobe.Ping(ctx, netprobe.Echo{Target: address, Pace: pace})
		used, asked, err = echo.Received > 0, problem == nil, problem
	}
	switch {
	case used:
		return true, nil
	case ctx.Err() != nil:
		return false, fmt.Errorf("ask for %s: %w", address, context.Cause(ctx))
	case !asked:
		return false, fmt.Errorf("this host cannot ask for %s: %w", address, err)
	}
	return false, nil
}

func askOn(ctx context.Context, links *netprobe.Links, own netprobe.Own, address netip.Addr) (bool, error) {
	if !own.Carrier {
		return false, fmt.Errorf("interface %s has no carrier", own.NIC)
	}
	on, err := links.Neighbors(own.NIC, address)
	if err != nil {
		return false, err
	}
	source := own.Address.Addr()
	if source.Is6() {
		source = netprobe.LinkLocal(own.NIC, source)
	}
	return on.InUse(ctx, source, address, pace)
}
