package lan

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/ironflow/ironflow/test/lab/guard"
)

// readyLimit is how long dnsmasq may take until it serves.
const readyLimit = time.Minute

// Network is a running network. Close ends it.
type Network struct {
	// Address is this machine's address in the network.
	Address netip.Addr

	options Options
	// name begins the names of all its devices.
	name   string
	bridge *netlink.Bridge
	links  []netlink.Link
	relays []*relay
	server *guard.Process
	// announcer tells the taps what they are plugged into.
	announcer *announcer
}

// Start makes the network.
func Start(ctx context.Context, options Options) (*Network, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	if err := sweep(); err != nil {
		return nil, err
	}
	n := &Network{Address: options.Prefix.Addr(), options: options, name: "if" + strings.ToLower(rand.Text()[:4])}
	if err := n.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start a network for machines: %w", err), n.Close())
	}
	return n, nil
}

func (n *Network) start(ctx context.Context) error {
	if err := free(n.options); err != nil {
		return err
	}
	n.bridge = &netlink.Bridge{LinkAttrs: netlink.LinkAttrs{Name: n.name, Alias: alias(os.Getpid())}}
	if err := n.add(n.bridge, n.options.Prefix); err != nil {
		return err
	}
	var err error
	if n.announcer, err = startAnnouncer(n.bridge); err != nil {
		return err
	}
	segments := []segment{{device: n.name, prefix: n.options.Prefix, dhcp: n.options.DHCP}}
	for _, v := range n.options.VLANs {
		s, err := n.vlan(v)
		if err != nil {
			return fmt.Errorf("VLAN %d: %w", v.ID, err)
		}
		segments = append(segments, s)
	}
	return n.serve(ctx, segments)
}

// add makes a device, with an address if there is one, and switches it on.
func (n *Network) add(link netlink.Link, prefix netip.Prefix) error {
	name := link.Attrs().Name
	if err := netlink.LinkAdd(link); err != nil {
		return fmt.Errorf("make the device %s: %w", name, err)
	}
	n.links = append(n.links, link)
	// The alias is not among what a device is made with.
	if err := netlink.LinkSetAlias(link, alias(os.Getpid())); err != nil {
		return fmt.Errorf("device %s: %w", name, err)
	}
	if prefix.IsValid() {
		address, err := netlink.ParseAddr(prefix.String())
		if err == nil {
			err = netlink.AddrAdd(link, address)
		}
		if err != nil {
			return fmt.Errorf("address %s of the device %s: %w", prefix, name, err)
		}
	}
	if err := netlink.LinkSetUp(link); err != nil {
		return fmt.Errorf("switch the device %s on: %w", name, err)
	}
	return nil
}

// plug makes a tap that is a port of the bridge.
func (n *Network) plug(name string) (*netlink.Tuntap, error) {
	tap := &netlink.Tuntap{
		LinkAttrs: netlink.LinkAttrs{Name: name}, Mode: netlink.TUNTAP_MODE_TAP, Flags: netlink.TUNTAP_DEFAULTS | netlink.TUNTAP_NO_PI,
	}
	if err := n.add(tap, netip.Prefix{}); err != nil {
		return nil, err
	}
	if err := netlink.LinkSetMaster(tap, n.bridge); err != nil {
		return nil, fmt.Errorf("plug %s into the network: %w", name, err)
	}
	return tap, nil
}

// Tap makes a tap for a machine's network card and returns the device's name. The
// name is of at most eight letters and digits.
func (n *Network) Tap(_ context.Context, name string) (string, error) {
	if !tapShape.MatchString(name) {
		return "", fmt.Errorf("%q is not a name for a tap: at most eight letters and digits", name)
	}
	device := n.name + "-" + name
	tap, err := n.plug(device)
	if err != nil {
		return "", err
	}
	n.announcer.add(tap)
	return device, nil
}

// Cable plugs a cable into the network and returns the name of its other end, a device of
// this machine for the cards of who is no virtual machine. The name is as that of a tap.
func (n *Network) Cable(_ context.Context, name string) (string, error) {
	if !tapShape.MatchString(name) {
		return "", fmt.Errorf("%q is not a name for a cable: at most eight letters and digits", name)
	}
	device := n.name + "-" + name
	// Both ends go with the one that is plugged in.
	plugged := &netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: n.name + "." + name}, PeerName: device}
	if err := n.add(plugged, netip.Prefix{}); err != nil {
		return "", err
	}
	if err := netlink.LinkSetMaster(plugged, n.bridge); err != nil {
		return "", fmt.Errorf("plug %s into the network: %w", name, err)
	}
	end, err := netlink.LinkByName(device)
	if err == nil {
		err = netlink.LinkSetUp(end)
	}
	if err != nil {
		return "", fmt.Errorf("switch the device %s on: %w", device, err)
	}
	return device, nil
}

// Switch is what a card hears by LLDP that it is plugged into: the switch's hardware
// address. The port's name is the tap's, the switch's name is [SwitchName].
func (n *Network) Switch() string { return n.announcer.from.String() }

// SetUp takes the network away from a tap or brings it back. The machine's card
// keeps its link: it is as if a switch on the way had failed.
func (n *Network) SetUp(_ context.Context, device string, up bool) error {
	for _, link := range n.links {
		if link.Attrs().Name != device {
			continue
		}
		if up {
			return netlink.LinkSetUp(link)
		}
		return netlink.LinkSetDown(link)
	}
	return fmt.Errorf("the network has no device %s", device)
}

// Prefix is this machine's address in the network, with the network's length.
func (n *Network) Prefix() netip.Prefix { return n.options.Prefix }

// Lease is the address that the DHCP server has given to a hardware address.
func (n *Network) Lease(mac string) (netip.Addr, bool) {
	raw, err := os.ReadFile(n.leases())
	if err != nil {
		return netip.Addr{}, false
	}
	for _, l := range parseLeases(string(raw)) {
		if l.mac == mac {
			return l.address, true
		}
	}
	return netip.Addr{}, false
}

// Log is the file with what the DHCP and DNS server says.
func (n *Network) Log() string { return filepath.Join(n.options.Dir, "dnsmasq.log") }

func (n *Network) leases() string { return filepath.Join(n.options.Dir, "leases") }

// serve starts dnsmasq and waits until it serves.
func (n *Network) serve(ctx context.Context, segments []segment) error {
	if err := os.MkdirAll(n.options.Dir, 0o700); err != nil {
		return err
	}
	file := filepath.Join(n.options.Dir, "dnsmasq.conf")
	if err := os.WriteFile(file, []byte(configuration(segments, n.options.Names, n.leases())), 0o600); err != nil {
		return err
	}
	log, err := os.Create(n.Log())
	if err != nil {
		return err
	}
	defer log.Close()
	n.server, err = guard.Start(guard.Command{Path: "dnsmasq", Args: []string{"--keep-in-foreground", "--conf-file=" + file}, Dir: n.options.Dir, Output: log})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, readyLimit, errors.New("it has not started in time"))
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		said, err := os.ReadFile(n.Log())
		// It says so once its sockets are bound.
		if err != nil || strings.Contains(string(said), "started, version") {
			return err
		}
		select {
		case <-n.server.Done():
			return fmt.Errorf("dnsmasq has ended: %w: %s", n.server.Err(), said)
		case <-ctx.Done():
			return fmt.Errorf("dnsmasq: %w: %s", context.Cause(ctx), said)
		case <-tick.C:
		}
	}
}

// Close ends the server and removes all devices.
func (n *Network) Close() error {
	if n.server != nil {
		n.server.Kill()
	}
	for _, r := range n.relays {
		r.close()
	}
	var failed []error
	if n.announcer != nil {
		failed = append(failed, n.announcer.close())
		n.announcer = nil
	}
	for _, link := range n.links {
		if err := netlink.LinkDel(link); err != nil {
			failed = append(failed, fmt.Errorf("remove the device %s: %w", link.Attrs().Name, err))
		}
	}
	n.links = nil
	return errors.Join(failed...)
}
