package domains

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

// lookupTimeout bounds one name.
const lookupTimeout = 5 * time.Second

// maxAddresses bounds what is told of one name; an answer may hold thousands.
const maxAddresses = 64

func unresolved(name string) wire.DomainResolutionResponseResolutions {
	return wire.DomainResolutionResponseResolutions{DomainName: name, Ipv4Addresses: []string{}, Ipv6Addresses: []string{}}
}

// resolve looks one name up; any failure is an empty result, as the protocol
// wants. The canonical name is asked for beside the addresses, because a name
// may have one that leads nowhere.
func resolve(ctx context.Context, env probe.Env, name string) wire.DomainResolutionResponseResolutions {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	out := unresolved(name)
	var both sync.WaitGroup
	both.Go(func() {
		addresses, err := env.Resolver.LookupNetIP(ctx, "ip", name)
		complain(env, name, err)
		out.Ipv4Addresses, out.Ipv6Addresses = split(addresses)
	})
	both.Go(func() {
		if canonical, err := env.Resolver.LookupCNAME(ctx, name); err == nil {
			out.Cnames = []string{canonical}
		}
	})
	both.Wait()
	return out
}

// complain logs what is no plain "there is no such name".
func complain(env probe.Env, name string, err error) {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	if err == nil || isDNS && dns.IsNotFound {
		return
	}
	env.Log.Warn("a name was not resolved", "name", name, "error", err)
}

// split sorts addresses by family and value, each once, so that equal answers stay equal.
func split(addresses []netip.Addr) (v4, v6 []string) {
	for i, a := range addresses {
		addresses[i] = a.Unmap().WithZone("")
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	v4, v6 = []string{}, []string{}
	for _, a := range slices.Compact(addresses) {
		switch {
		case a.Is4() && len(v4) < maxAddresses:
			v4 = append(v4, a.String())
		case a.Is6() && len(v6) < maxAddresses:
			v6 = append(v6, a.String())
		}
	}
	return v4, v6
}
