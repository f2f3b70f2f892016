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
	host, port := a.plainHost(), a.port()
	if port == "" {
		port = a.defaultPort()
	}
	if a.Family == Redfish && !a.singleSystem() {
		system = path.Clean("/" + strings.TrimRight(a.path, "/"))
	}
	return string(a.Family) + " " + host + " " + port, system
}

// Device names the host whose controller the address reaches, whatever the protocol: a BMC
// that speaks several has one address for all. It is empty for a port that is not the
// protocol's own, behind which another controller may be.
func (a *Address) Device() string {
	if port := a.port(); port != "" && port != a.defaultPort() {
		return ""
	}
	return a.plainHost()
}

func (a *Address) port() string { return (&url.URL{Host: a.host}).Port() }

// plainHost is the host in one spelling, without port and brackets.
func (a *Address) plainHost() string {
	host := strings.ToLower(strings.TrimSuffix((&url.URL{Host: a.host}).Hostname(), "."))
	if ip, err := netip.ParseAddr(host); err == nil {
		host = ip.Unmap().String()
	}
	return host
}

func (a *Address) defaultPort() string {
	switch {
	case a.Family == IPMI:
		return defaultIPMIPort
	case a.transport == "http":
		return "80"
	default:
		return "443"
	}
}
