package address

import (
	"fmt"
	"net"
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

// OfDriverInfo is the address of the BMC that a node's driver_info has: what [Address.Location] makes of an address, as an
// address that [Parse] reads, of the same machine. It is empty where driver_info says nothing that is known here.
func OfDriverInfo(info map[string]any) string {
	text := func(key string) string {
		if info[key] == nil {
			return ""
		}
		return fmt.Sprint(info[key]) // Ironic takes a port as a number, too
	}
	if base := text("redfish_address"); base != "" {
		if !strings.Contains(base, "://") {
			base = "https://" + base // as Ironic reads it
		}
		u, err := url.Parse(base) // its path, if any, is where the BMC's service begins
		if err != nil {
			return ""
		}
		at := url.URL{Scheme: string(Redfish) + "+" + u.Scheme, Host: u.Host, Path: text("redfish_system_id")} // spelt there as it is
		return at.String()
	}
	host, port := text("ipmi_address"), text("ipmi_port")
	if host == "" {
		return ""
	}
	if port == "" {
		port = defaultIPMIPort
	}
	return (&url.URL{Scheme: string(IPMI), Host: net.JoinHostPort(strings.Trim(host, "[]"), port)}).String()
}
