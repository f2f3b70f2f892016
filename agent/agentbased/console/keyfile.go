package console

import (
	"fmt"
	"net/netip"
	"strings"
)

// settings are what a person gives an interface.
type settings struct {
	nic     string
	dhcp    bool
	address netip.Prefix
	gateway netip.Addr
	dns     []netip.Addr
}

// parseAddress reads "dhcp" or an address with the length of its prefix.
func (s *settings) parseAddress(text string) error {
	if strings.EqualFold(text, "dhcp") {
		s.dhcp, s.address = true, netip.Prefix{}
		return nil
	}
	prefix, err := netip.ParsePrefix(text)
	a := prefix.Addr()
	switch {
	case err != nil:
		return fmt.Errorf("%q: want an address with its prefix, such as 192.0.2.10/24, or dhcp", text)
	case a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || (prefix.Masked().Addr() == a && prefix.Bits() < a.BitLen()-1):
		return fmt.Errorf("%s is not the address of a host", prefix)
	}
	s.dhcp, s.address = false, prefix
	return nil
}

// parseGateway reads the gateway; empty is none.
func (s *settings) parseGateway(text string) error {
	s.gateway = netip.Addr{}
	if text == "" {
		return nil
	}
	gateway, err := netip.ParseAddr(text)
	switch {
	case err != nil || gateway.Zone() != "" || gateway.Is4() != s.address.Addr().Is4():
		return fmt.Errorf("%q: want an address of the same family as %s", text, s.address)
	case !s.address.Contains(gateway) && !gateway.IsLinkLocalUnicast():
		return fmt.Errorf("%s is not in the network %s", gateway, s.address.Masked())
	case gateway == s.address.Addr():
		return fmt.Errorf("%s is this host itself", gateway)
	}
	s.gateway = gateway
	return nil
}

// parseDNS reads name servers; empty is none.
func (s *settings) parseDNS(text string) error {
	s.dns = nil
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ' ' }) {
		server, err := netip.ParseAddr(word)
		if err != nil || server.Zone() != "" {
			return fmt.Errorf("%q is not an address", word)
		}
		if !s.dhcp && server.Is4() != s.address.Addr().Is4() {
			return fmt.Errorf("%s is of another family than %s, and so out of reach", server, s.address)
		}
		s.dns = append(s.dns, server)
	}
	return nil
}

// keyfile renders the connection. It wins over others of the interface.
func (s *settings) keyfile() string {
	return "[connection]\nid=" + s.name() + "\ntype=ethernet\ninterface-name=" + s.nic + "\nautoconnect-priority=999\n\n" +
		"[ipv4]\n" + s.family(true) + "\n[ipv6]\n" + s.family(false)
}

// family are the lines of one family's section.
func (s *settings) family(four bool) string {
	text := "method=auto\n"
	if !s.dhcp {
		if s.address.Addr().Is4() != four {
			return "method=disabled\n"
		}
		text = "method=manual\naddress1=" + s.address.String()
		if s.gateway.IsValid() {
			text += "," + s.gateway.String()
		}
		text += "\n"
	}
	var servers strings.Builder
	for _, server := range s.dns {
		if server.Is4() == four {
			servers.WriteString(server.String() + ";")
		}
	}
	if servers.String() != "" {
		text += "dns=" + servers.String() + "\n"
	}
	return text
}

func (s *settings) name() string { return "console-" + s.nic }
