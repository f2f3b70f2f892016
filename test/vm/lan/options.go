package lan

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// Options describe a network.
type Options struct {
	// Prefix is this machine's address in the network, with the network's length;
	// zero is 172.22.0.1/24.
	Prefix netip.Prefix
	// DHCP chooses the server; the zero value gives addresses from the middle of
	// the prefix to everybody.
	DHCP DHCP
	// Names are answered by the DNS server, beside those of the DHCP clients. It
	// knows nothing else.
	Names map[string]netip.Addr
	// VLANs are further networks, whose frames have a tag on the taps.
	VLANs []VLAN
	// Dir keeps the server's configuration, leases and log.
	Dir string
	// Log receives what happens; nil discards.
	Log *slog.Logger
}

// DHCP says what the server gives.
type DHCP struct {
	// Off is a network without DHCP; it has DNS.
	Off bool
	// Hosts get the same address each time.
	Hosts []Host
	// Script is the URL of a script for iPXE, HTTPBoot the URL for machines that
	// ask for UEFI HTTP boot.
	Script, HTTPBoot string
}

// Host is a known DHCP client.
type Host struct {
	// MAC is the hardware address with colons.
	MAC string
	// Address is its address in the prefix.
	Address netip.Addr
	// Name is its name, may be empty.
	Name string
}

// VLAN is a network with a tag.
type VLAN struct {
	// ID is the tag, 1 to 4094.
	ID int
	// Prefix is this machine's address in the VLAN, with the length.
	Prefix netip.Prefix
	// DHCP gives addresses in the VLAN.
	DHCP DHCP
}

var (
	domainShape = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
	tapShape    = regexp.MustCompile(`^[a-z0-9]{1,8}$`)
)

// defaultPrefix is a private network that nothing here uses.
var defaultPrefix = netip.MustParsePrefix("172.22.0.1/24")

// complete fills in what was left open, and refuses what cannot be.
func (o Options) complete() (Options, error) {
	if !o.Prefix.IsValid() {
		o.Prefix = defaultPrefix
	}
	if o.Dir == "" {
		return o, errors.New("a network needs a folder")
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	for name := range o.Names {
		if !domainShape.MatchString(name) {
			return o, fmt.Errorf("%q is not a name for DNS in lower case", name)
		}
	}
	if err := o.DHCP.check(o.Prefix); err != nil {
		return o, err
	}
	for _, v := range o.VLANs {
		if v.ID < 1 || v.ID > 4094 {
			return o, fmt.Errorf("%d is not a VLAN id", v.ID)
		}
		if err := v.DHCP.check(v.Prefix); err != nil {
			return o, fmt.Errorf("VLAN %d: %w", v.ID, err)
		}
	}
	return o, nil
}

// check refuses what would not be one value in the server's configuration.
func (d DHCP) check(prefix netip.Prefix) error {
	if !prefix.IsValid() || !prefix.Addr().Is4() || prefix.Bits() > 28 {
		return fmt.Errorf("%s is not an IPv4 address with a length of at most 28", prefix)
	}
	for _, h := range d.Hosts {
		mac, err := net.ParseMAC(h.MAC)
		if err != nil || mac.String() != h.MAC || !prefix.Contains(h.Address) || h.Name != "" && !domainShape.MatchString(h.Name) {
			return fmt.Errorf("host %+v: it needs a hardware address in lower case and an address in %s", h, prefix.Masked())
		}
	}
	for _, address := range []string{d.Script, d.HTTPBoot} {
		if u, err := url.Parse(address); err != nil || address != "" && u.Host == "" || strings.ContainsAny(address, ",\n\"\\") {
			return fmt.Errorf("%q is not an address to boot from", address)
		}
	}
	return nil
}
