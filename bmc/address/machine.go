package address

import (
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// Machine names the BMC and the system behind it, so that two addresses of one machine
// are seen to be that however they are spelt: by case, default port, IPv6 form, slashes or
// another scheme of the same protocol. The system is empty for the only one of a BMC.
func (a *Address) Machine() (bmc, system string) {
	u := url.URL{Host: a.host}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.String()
	}
	port := u.Port()
	switch {
	case port != "":
	case a.Family == IPMI:
		port = defaultIPMIPort
	case a.transport == "http":
		port = "80"
	default:
		port = "443"
	}
	if a.Family == Redfish && !a.singleSystem() {
		system = path.Clean("/" + strings.TrimRight(a.path, "/"))
	}
	return string(a.Family) + " " + host + " " + port, system
}
