package freeaddresses

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/netprobe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// scanning is held while a scan runs in this process: two at once would only
// disturb the network twice.
var scanning sync.Mutex

// scanOnce scans, or says nothing while another scan runs: hubs refuse an empty
// answer.
func scanOnce(ctx context.Context, env probe.Env, networks wire.FreeAddressesRequest) steps.Result {
	if !scanning.TryLock() {
		return steps.Silent
	}
	defer scanning.Unlock()
	nics, err := env.Interfaces(ctx)
	if err != nil {
		return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
	}
	jobs := plan(netprobe.OwnAddresses(nics), networks)
	if len(jobs) == 0 {
		return steps.Failed(steps.ExitBad, "this host is in none of the networks %v", []string(networks))
	}
	out := wire.FreeNetworksAddresses{}
	for _, j := range jobs {
		free, err := j.scan(ctx)
		if err != nil {
			return steps.Failed(steps.ExitBad, "scan %s: %v", j.network, err)
		}
		out = append(out, wire.FreeNetworkAddresses{Network: j.network.String(), FreeAddresses: free})
	}
	return steps.JSON(out)
}

// job is the scan of one network: at most as large as a sweep.
type job struct {
	network netip.Prefix
	// addresses are those that are looked at: all, but for the last job.
	addresses []netip.Addr
	// through are the own addresses to ask from, one for each interface in the network.
	through []netprobe.Own
	// taken are the host's own addresses, which nobody else answers for.
	taken map[netip.Addr]bool
}

// plan lists the networks that the host is on, up to [maxAddresses] addresses.
func plan(own []netprobe.Own, networks wire.FreeAddressesRequest) []job {
	var jobs []job
	left := maxAddresses
	for _, cidr := range networks {
		network, err := netip.ParsePrefix(cidr)
		if err != nil {
			continue // refused before
		}
		j := job{network: network, taken: map[netip.Addr]bool{}}
		seen := map[string]bool{}
		for _, o := range own {
			j.taken[o.Address.Addr()] = true
			if o.Address.Bits() <= network.Bits() && o.Address.Contains(network.Addr()) && !seen[o.NIC] {
				seen[o.NIC] = true
				j.through = append(j.through, o)
			}
		}
		if len(j.through) == 0 || left == 0 {
			continue
		}
		for a := network.Addr(); network.Contains(a) && left > 0; a = a.Next() {
			j.addresses = append(j.addresses, a)
			left--
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// scan lists the addresses that nobody answers for, on any interface.
func (j job) scan(ctx context.Context) ([]string, error) {
	var links netprobe.Links
	defer links.Close()
	found := make([]map[netip.Addr]bool, len(j.through))
	errs := make([]error, len(j.through))
	var all sync.WaitGroup
	for i, o := range j.through {
		if !o.Carrier {
			errs[i] = fmt.Errorf("interface %s has no carrier", o.NIC)
			continue
		}
		on, err := links.Neighbors(o.NIC, o.Address.Addr())
		if err != nil {
			errs[i] = err
			continue
		}
		all.Go(func() { found[i], errs[i] = on.Sweep(ctx, o.Address.Addr(), j.addresses) })
	}
	all.Wait()
	// One interface that could ask is enough: all are in the same network.
	if !slices.Contains(errs, nil) {
		return nil, errors.Join(errs...)
	}
	free := []string{}
	for _, a := range j.addresses {
		taken := j.taken[a]
		for _, f := range found {
			taken = taken || f[a]
		}
		if !taken {
			free = append(free, a.String())
		}
	}
	return free, nil
}
