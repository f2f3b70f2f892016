package ntp

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/probe/ntp/chrony"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// socket is where chronyd takes commands.
const socket = "/run/chrony/chronyd.sock"

// lookupTimeout bounds one look-up.
const lookupTimeout = 5 * time.Second

// synchronize adds the sources that chrony does not know, then lists all.
func synchronize(ctx context.Context, env probe.Env, r wire.NTPSynchronizationRequest) steps.Result {
	client, err := chrony.Dial(env.Dir.Path(socket))
	if err != nil {
		return steps.Failed(steps.ExitBad, "%v", err)
	}
	defer client.Close() //nolint:errcheck // nothing is lost with it
	if wanted := sources(r); len(wanted) > 0 {
		if err := add(ctx, env, client, wanted); err != nil {
			return steps.Failed(steps.ExitBad, "list the time sources: %v", err)
		}
	}
	out, err := list(ctx, env, client)
	if err != nil {
		return steps.Failed(steps.ExitBad, "list the time sources: %v", err)
	}
	return steps.JSON(wire.NTPSynchronizationResponse{NTPSources: out})
}

// add adds what is not known. That one cannot be added is no failure of the
// step: the list shows what is there.
func add(ctx context.Context, env probe.Env, client *chrony.Client, wanted []string) error {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	there, err := known(ctx, client)
	if err != nil {
		return err
	}
	fresh := make([]bool, len(wanted))
	each(wanted, func(i int, source string) { fresh[i] = !there.has(ctx, env, source) })
	for i, source := range wanted {
		if !fresh[i] {
			continue
		}
		switch err := client.AddServer(ctx, source); {
		case err == nil:
			env.Log.Info("time source added", "source", source)
		case !errors.Is(err, chrony.ErrAlreadyKnown):
			env.Log.Warn("a time source was not added", "source", source, "error", err)
		}
	}
	return nil
}

// inventory is what chrony has already: by name as it was configured, and by address.
type inventory struct {
	names     map[string]bool
	addresses map[netip.Addr]bool
}

func known(ctx context.Context, client *chrony.Client) (inventory, error) {
	out := inventory{names: map[string]bool{}, addresses: map[netip.Addr]bool{}}
	all, err := client.Sources(ctx)
	if err != nil {
		return out, err
	}
	for _, s := range all {
		if s.Address.IsValid() {
			out.addresses[s.Address] = true
		}
		if name, err := client.Name(ctx, s); err == nil { // reference clocks have none
			out.names[canonical(name)] = true
		}
	}
	return out, nil
}

// has tells whether the source is there by its text, or by one of its addresses.
func (i inventory) has(ctx context.Context, env probe.Env, source string) bool {
	if a, err := netip.ParseAddr(source); err == nil {
		return i.addresses[a.Unmap()]
	}
	if i.names[canonical(source)] {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	addresses, err := env.Resolver.LookupNetIP(ctx, "ip", source)
	if err != nil { // chronyd goes on asking for its address
		return false
	}
	for _, a := range addresses {
		if i.addresses[a.Unmap()] {
			return true
		}
	}
	return false
}

func canonical(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// list returns the servers by name and state, in chrony's order.
func list(ctx context.Context, env probe.Env, client *chrony.Client) ([]wire.NTPSource, error) {
	ctx, cancel := context.WithTimeout(ctx, listing)
	defer cancel()
	all, err := client.Sources(ctx)
	if err != nil {
		return nil, err
	}
	var servers []chrony.Source
	for _, s := range all {
		if s.Mode == chrony.Server && s.Address.IsValid() {
			servers = append(servers, s)
		}
	}
	out := make([]wire.NTPSource, len(servers))
	each(servers, func(i int, s chrony.Source) {
		out[i] = wire.NTPSource{SourceName: reverse(ctx, env, s.Address), SourceState: state(s.State)}
	})
	return out, nil
}

// reverse is the name of an address, or the address where it has none.
func reverse(ctx context.Context, env probe.Env, a netip.Addr) string {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	names, err := env.Resolver.LookupAddr(ctx, a.String())
	if err != nil || len(names) == 0 {
		return a.String()
	}
	return strings.TrimSuffix(names[0], ".")
}

func state(s chrony.State) wire.SourceState {
	switch s {
	case chrony.Selected:
		return wire.SourceStateSynced
	case chrony.Unselected:
		return wire.SourceStateCombined
	case chrony.Selectable:
		return wire.SourceStateNotCombined
	case chrony.Unusable:
		return wire.SourceStateUnreachable
	case chrony.Jittery:
		return wire.SourceStateVariable
	default: // a falseticker, and what a newer chrony may add
		return wire.SourceStateError
	}
}

// workers bounds the look-ups at a time.
const workers = 16

// each calls f for all items, some at a time.
func each[T any](items []T, f func(i int, item T)) {
	var all sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, item := range items {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			f(i, item)
		})
	}
	all.Wait()
}
