// Package domains is the step domain-resolution: whether this host resolves the
// names that the cluster needs, and whether a wildcard answers for any name.
package domains

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// noWildcard begins the name that must not resolve; hubs look for wildcards with it.
const noWildcard = "validateNoWildcardDNS."

// maxNames bounds the names of one step.
const maxNames = 100

// Check resolves the names that the cluster needs.
var Check = probe.Check[[]string]{
	Deadline: 30 * time.Second,
	Decode: func(args []string) ([]string, error) {
		r, err := steps.Decode[struct {
			Domains json.RawMessage `json:"domains"`
		}](args)
		var domains []struct {
			Name string `json:"domain_name"`
		}
		switch {
		case err != nil:
			return nil, err
		case r.Domains == nil: // null is an empty list, missing is none
			return nil, errors.New("domains is missing")
		}
		if err := json.Unmarshal(r.Domains, &domains); err != nil {
			return nil, fmt.Errorf("domains cannot be read: %w", err)
		}
		names := make([]string, 0, len(domains))
		for _, d := range domains {
			names = append(names, d.Name)
		}
		return names, nil
	},
	Validate: func(names []string) error {
		if len(names) > maxNames {
			return fmt.Errorf("%d names are more than %d", len(names), maxNames)
		}
		for _, name := range names {
			if !probe.ValidName(name) {
				return fmt.Errorf("%q is not a domain name", name)
			}
		}
		return nil
	},
	Real: func(ctx context.Context, env probe.Env, names []string) steps.Result {
		out := make([]wire.DomainResolutionResponseResolutions, len(names))
		var all sync.WaitGroup
		for i, name := range names {
			all.Go(func() { out[i] = resolve(ctx, env, name) })
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
			one := unresolved(name)
			if !strings.HasPrefix(name, noWildcard) {
				one.Ipv4Addresses = firstAddress(own)
			}
			out.Resolutions = append(out.Resolutions, one)
		}
		return steps.JSON(out)
	},
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
