// Package domains is the step domain-resolution: the names that the cluster needs.
package domains

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// noWildcard begins the name that must not resolve; hubs look for wildcards with it.
const noWildcard = "validateNoWildcardDNS."

// lookupTimeout bounds one name.
const lookupTimeout = 5 * time.Second

// Check resolves the names that the cluster needs.
var Check = probe.Check[[]string]{
	Deadline: 30 * time.Second,
	Decode: func(args []string) ([]string, error) {
		type request struct {
			Domains []struct {
				Name string `json:"domain_name"`
			} `json:"domains"`
		}
		r, err := steps.Decode[request](args)
		names := make([]string, 0, len(r.Domains))
		for _, d := range r.Domains {
			names = append(names, d.Name)
		}
		return names, err
	},
	Validate: func(names []string) error {
		if len(names) > 100 {
			return fmt.Errorf("%d names are more than 100", len(names))
		}
		for _, name := range names {
			if !probe.ValidName(name) {
				return fmt.Errorf("%q is not a domain name", name)
			}
		}
		return nil
	},
	Real: func(ctx context.Context, _ probe.Env, names []string) steps.Result {
		out := make([]wire.DomainResolutionResponseResolutions, len(names))
		var all sync.WaitGroup
		for i, name := range names {
			all.Go(func() { out[i] = resolve(ctx, name) })
		}
		all.Wait()
		return steps.JSON(wire.DomainResolutionResponse{Resolutions: out})
	},
	Dry: func(ctx context.Context, env probe.Env, names []string) steps.Result {
		own, err := env.Interfaces(ctx)
		if err != nil {
			return steps.Failed(steps.ExitBad, "own interfaces: %v", err)
		}
		out := wire.DomainResolutionResponse{Resolutions: []wire.DomainResolutionResponseResolutions{}}
		for _, name := range names {
			one := wire.DomainResolutionResponseResolutions{DomainName: name, Ipv4Addresses: []string{}, Ipv6Addresses: []string{}}
			if !strings.HasPrefix(name, noWildcard) {
				one.Ipv4Addresses = firstAddress(own)
			}
			out.Resolutions = append(out.Resolutions, one)
		}
		return steps.JSON(out)
	},
}

// resolve looks one name up; any failure is an empty result, as the protocol wants.
func resolve(ctx context.Context, name string) wire.DomainResolutionResponseResolutions {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	out := wire.DomainResolutionResponseResolutions{DomainName: name, Ipv4Addresses: []string{}, Ipv6Addresses: []string{}}
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	if err != nil {
		return out
	}
	for _, a := range addresses {
		if a = a.Unmap(); a.Is4() {
			out.Ipv4Addresses = append(out.Ipv4Addresses, a.String())
		} else {
			out.Ipv6Addresses = append(out.Ipv6Addresses, a.String())
		}
	}
	slices.Sort(out.Ipv4Addresses)
	slices.Sort(out.Ipv6Addresses)
	if canonical, err := net.DefaultResolver.LookupCNAME(ctx, name); err == nil {
		out.Cnames = []string{canonical}
	}
	return out
}

func firstAddress(own []wire.Interface) []string {
	for _, nic := range own {
		for _, cidr := range nic.Ipv4Addresses {
			if p, err := netip.ParsePrefix(cidr); err == nil {
				return []string{p.Addr().String()}
			}
		}
	}
	return []string{}
}
