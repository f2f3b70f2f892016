package network

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// nmstate and NetworkManager have different words for the identities that are
// made of something of the host's own. A word that NetworkManager does not know
// it would send as it is, the same from every host.

// clientID returns NetworkManager's word for a DHCPv4 client identifier.
func clientID(nmstate string) string {
	switch strings.ToLower(nmstate) {
	case "ll":
		return "mac"
	case "iaid+duid":
		return "duid"
	}
	return nmstate
}

// duids are NetworkManager's words for a DHCPv6 identifier.
var duids = []string{"ll", "llt", "lease", "stable-ll", "stable-llt", "stable-uuid"}

var hexBytes = regexp.MustCompile(`^[0-9A-Fa-f]{1,2}(:[0-9A-Fa-f]{1,2}){2,129}$`)

// duid takes a DHCPv6 identifier, in NetworkManager's words.
func duid(o *object) string {
	value := o.text("dhcp-duid")
	if word := strings.ToLower(value); word == "uuid" {
		value = "stable-uuid"
	} else if slices.Contains(duids, word) {
		value = word
	}
	if value != "" && !slices.Contains(duids, value) && !hexBytes.MatchString(value) {
		o.refuse(o.at("dhcp-duid"), "%q is none of ll, llt, uuid and bytes like 00:03:00:01:52:54:00:00:00:01", value)
	}
	return value
}

// token takes the part of an IPv6 address that is the host's own.
func token(o *object) string {
	text := o.text("token")
	if text == "" {
		return ""
	}
	addr, err := netip.ParseAddr(text)
	if err != nil || !addr.Is6() || addr.Zone() != "" || [8]byte(addr.AsSlice()[:8]) != [8]byte{} || addr == netip.IPv6Unspecified() {
		o.refuse(o.at("token"), "%q is not the lower half of an IPv6 address, such as ::1", text)
		return ""
	}
	return addr.String()
}

// dhcpHostname takes what DHCP servers are told of the host's name.
func dhcpHostname(o *object, six bool) (settings [][2]string) {
	send, name := o.flag("dhcp-send-hostname", true), o.text("dhcp-custom-hostname")
	if name != "" && !hostName.MatchString(name) {
		o.refuse(o.at("dhcp-custom-hostname"), "%q is not a host name", name)
	}
	switch {
	case !send:
		settings = append(settings, [2]string{"dhcp-send-hostname", "false"})
	case name != "" && !six && strings.Contains(name, "."):
		settings = append(settings, [2]string{"dhcp-fqdn", name})
	case name != "":
		settings = append(settings, [2]string{"dhcp-hostname", name})
	}
	return settings
}
