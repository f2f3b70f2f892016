// Package freeaddresses is the step free-network-addresses: which addresses of the host's
// networks nobody answers for.
package freeaddresses

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// smallest network and number of addresses of a free-addresses scan.
const (
	smallestBits = 22
	maxAddresses = 8000
)

// Check tells which addresses of the host's networks nobody answers for.
var Check = probe.Check[wire.FreeAddressesRequest]{
	Deadline: 2 * time.Minute,
	Validate: func(networks wire.FreeAddressesRequest) error {
		if len(networks) == 0 || len(networks) > 64 {
			return fmt.Errorf("%d networks, want 1 to 64", len(networks))
		}
		for _, cidr := range networks {
			p, err := netip.ParsePrefix(cidr)
			if err != nil || !p.Addr().Is4() || p.Masked() != p || p.Bits() < smallestBits {
				return fmt.Errorf("%q is not an IPv4 network of /%d or smaller", cidr, smallestBits)
			}
		}
		return nil
	},
	Real: scanOnce,
	Dry: func(_ context.Context, _ probe.Env, networks wire.FreeAddressesRequest) steps.Result {
		out, left := wire.FreeNetworksAddresses{}, maxAddresses
		for _, cidr := range networks {
			p := netip.MustParsePrefix(cidr)
			free := []string{}
			for a := p.Addr(); p.Contains(a) && left > 0; a = a.Next() {
				free = append(free, a.String())
				left--
			}
			out = append(out, wire.FreeNetworkAddresses{Network: cidr, FreeAddresses: free})
		}
		return steps.JSON(out)
	},
}
