package network

import (
	"regexp"
	"slices"
)

// nmstate and NetworkManager have different words for the identities that are
// made of something of the host's own. A word that NetworkManager does not know
// it would send as it is, the same from every host.

// clientID returns NetworkManager's word for a DHCPv4 client identifier.
func clientID(nmstate string) string {
	switch nmstate {
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
	if value == "uuid" {
		value = "stable-uuid"
	}
	if value != "" && !slices.Contains(duids, value) && !hexBytes.MatchString(value) {
		o.refuse(o.at("dhcp-duid"), "%q is none of ll, llt, uuid and bytes like 00:03:00:01:52:54:00:00:00:01", value)
	}
	return value
}
