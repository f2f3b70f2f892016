package nodezero

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/agentbased/installed"
	"github.com/ironflow/ironflow/agent/agentbased/messages"
	"github.com/ironflow/ironflow/agent/agentbased/pause"
	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/api/hostfile"
)

// Network tells the addresses of this host.
type Network interface {
	// Addresses lists them.
	Addresses() ([]Address, error)
	// Changes subscribes: the channel gets a value after addresses or links have changed, and
	// is closed when the subscription has ended before the context.
	Changes(ctx context.Context) (<-chan struct{}, error)
	// Routes is the same for routes, which come after the addresses of their interface.
	Routes(ctx context.Context) (<-chan struct{}, error)
}

const (
	// settled is how long a host that has addresses waits for another one: servers of
	// DHCP and routers answer on each interface in their own time, and a switch may hold a
	// port back for half a minute. Each address that comes or goes begins it anew.
	settled = 30 * time.Second
	// patience bounds that for a network that never rests.
	patience = 5 * time.Minute
	// look is how often a missing file is looked for: somebody attaches a medium meanwhile.
	look = time.Second
)

// hubPort is where the hub of a host that joins a cluster listens.
const hubPort = "8090"

// Program decides whether this host is the rendezvous host.
type Program struct {
	Dir     hostfile.Dir
	Network Network
	Console *messages.Console
	Log     *slog.Logger
	// Installed returns the record by which this image has installed this host before; nil for none.
	// It is asked once the settings are there; nil for nobody.
	Installed func(ctx context.Context) *installed.Record
	// Ready is called at the first decision: who has to know goes on.
	Ready func()
	// Start has systemd start what only the rendezvous host has. It is called when this host
	// becomes it later, when systemd has passed all of that over.
	Start func(ctx context.Context) error
}

// Run waits for the settings and the addresses, says what this host is, and writes the
// file that marks the rendezvous host, or removes an old one. A host that is not the
// rendezvous host may get the address later, so the program runs on there: otherwise no host
// would be the hub. It returns once this host is the rendezvous host. An error means that it
// should be run again.
func (p Program) Run(ctx context.Context) error {
	changes, err := p.Network.Changes(ctx) // before the first look, so that nothing falls between
	if err != nil {
		return fmt.Errorf("hear of changes of addresses: %w", err)
	}
	if places.Exists(p.Dir, places.AddNodes) {
		if before := p.before(ctx); before != nil {
			return p.refuse(ctx, before)
		}
		return p.joins(ctx, changes)
	}
	want, err := p.expected(ctx)
	if err != nil {
		return err
	}
	return p.follow(ctx, want, changes)
}

// expected waits for the file that names the rendezvous host.
func (p Program) expected(ctx context.Context) ([]netip.Addr, error) {
	for {
		values, err := places.ReadEnv(p.Dir, places.RendezvousHost)
		switch {
		case err == nil:
			want, err := places.Rendezvous(values[places.NodeZeroIP])
			if err != nil {
				p.Console.Show(ctx, messages.RendezvousInvalid, fmt.Sprintf("%s in %s: %v", places.NodeZeroIP, places.RendezvousHost, err))
				return nil, fmt.Errorf("%s in %s: %w", places.NodeZeroIP, places.RendezvousHost, err)
			}
			return want, nil
		case errors.Is(err, fs.ErrNotExist):
			p.Console.Show(ctx, messages.RendezvousUnknown, places.RendezvousHost)
		default:
			p.Console.Show(ctx, messages.RendezvousInvalid, err.Error())
			return nil, err
		}
		if err := pause.For(ctx, look); err != nil {
			return nil, err
		}
	}
}

// follow looks at the addresses and at each change of them, until one is expected. A host
// without any address waits on: it could not install itself.
func (p Program) follow(ctx context.Context, want []netip.Addr, changes <-chan struct{}) error {
	var addresses rest
	decided, before := false, p.before(ctx)
	for {
		all, err := p.Network.Addresses()
		if err != nil {
			return fmt.Errorf("list addresses: %w", err)
		}
		settles := addresses.see(all, time.Now())
		v := decide(want, all, moment{settled: decided || settles <= 0, another: places.Exists(p.Dir, places.AnotherHub)})
		p.show(ctx, v)
		switch {
		case v.match != nil && before != nil:
			return p.refuse(ctx, before)
		case v.match != nil && decided:
			if err := p.become(*v.match); err != nil {
				return err
			}
			return p.Start(ctx)
		case v.match != nil:
			return p.decide(*v.match)
		case v.message == messages.RendezvousIsNot && !decided:
			if err := places.Remove(p.Dir, places.NodeZero); err != nil {
				return err
			}
			decided = true
			if before != nil {
				p.Console.Show(ctx, messages.InstalledFollows, before.At.Format(time.RFC3339), before.Disk)
			}
			p.Ready()
		}
		var settled <-chan time.Time
		if settles > 0 {
			settled = time.After(settles)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open := <-changes:
			if !open {
				return errors.New("the kernel does not tell changes of addresses any more")
			}
		case <-settled:
		}
	}
}

// decide makes this host the rendezvous host at the first decision.
func (p Program) decide(a Address) error {
	if err := p.become(a); err != nil {
		return err
	}
	p.Ready()
	return nil
}

// become writes the file that starts the hub on this host.
func (p Program) become(a Address) error {
	if a.MAC == "" {
		return fmt.Errorf("interface %s of the address %s has no hardware address, by which the hub would know this host", a.Interface, a.Addr)
	}
	p.Log.Info("this host is the rendezvous host", "address", a.Addr.String(), "interface", a.Interface, "mac", a.MAC)
	text := places.FormatEnv(map[string]string{places.BootstrapMAC: a.MAC})
	return places.Write(p.Dir, places.NodeZero, []byte(text), 0o644)
}

// joins makes a host that joins a running cluster its own rendezvous host. The interface of
// the default route is waited for, as long as a host that has addresses waits for another one.
func (p Program) joins(ctx context.Context, changes <-chan struct{}) error {
	routes, err := p.Network.Routes(ctx)
	if err != nil {
		return fmt.Errorf("hear of changes of routes: %w", err)
	}
	var settles <-chan time.Time // counts from the first address
	for final := false; ; {
		all, err := p.Network.Addresses()
		if err != nil {
			return fmt.Errorf("list addresses: %w", err)
		}
		a := own(all)
		switch {
		case a != nil && (a.Default || final):
			if err := p.name(*a); err != nil {
				return err
			}
			p.Console.Show(ctx, messages.RendezvousIs, a.Addr.String(), a.Interface)
			return p.decide(*a)
		case a != nil:
			p.Console.Show(ctx, messages.RendezvousExpected, "an address of this host itself, on the interface of its default route", inWords(usable(all)))
			if settles == nil {
				settles = time.After(settled)
			}
		default:
			p.show(ctx, verdict{message: messages.RendezvousNoAddress, args: []string{"an address of this host itself, which joins a running cluster"}})
		}
		open := true
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case _, open = <-changes:
		case _, open = <-routes:
		case <-settles:
			final = true
		}
		if !open {
			return errors.New("the kernel does not tell changes of addresses and routes any more")
		}
	}
}

// name writes the host's own address as that of the rendezvous host; what else the file
// says stays.
func (p Program) name(a Address) error {
	values, err := places.ReadEnv(p.Dir, places.RendezvousHost)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		values = map[string]string{}
	}
	scheme, _, found := strings.Cut(values[places.ServiceBaseURL], "://")
	if !found {
		scheme = "http"
	}
	values[places.NodeZeroIP] = a.Addr.String()
	values[places.ServiceBaseURL] = scheme + "://" + net.JoinHostPort(a.Addr.String(), hubPort) + "/"
	return places.Write(p.Dir, places.RendezvousHost, []byte(places.FormatEnv(values)), 0o600) // it has tokens
}
