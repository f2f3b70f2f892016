package network

import (
	"regexp"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// nameless are host names that say nothing: localhost and its longer forms.
var nameless = regexp.MustCompile(`^localhost[46]?(\.localdomain[46]?)?$`)

// hostname replaces a name that says nothing by the MAC of the first interface
// by name that other hosts could reach.
func hostname(name string, nics []wire.Interface) string {
	if !nameless.MatchString(name) {
		return name
	}
	for _, nic := range nics {
		usable := slices.Contains([]string{physical, "vlan", "bond"}, nic.Type)
		if usable && nic.MACAddress != "" && len(nic.Ipv4Addresses)+len(nic.Ipv6Addresses) > 0 {
			return strings.ReplaceAll(nic.MACAddress, ":", "-")
		}
	}
	return name
}
