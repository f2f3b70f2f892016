package inventory

import (
	"bufio"
	"context"
	"encoding/hex"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/hub/wire"
)

const netDir = "/sys/class/net"

// nicState is what only the kernel's own interface tells about an interface.
type nicState struct {
	flags     []string
	addresses []netip.Prefix
}

// kernelAddresses reads flags and addresses of all interfaces.
func kernelAddresses() (map[string]nicState, error) {
	nics, err := net.Interfaces()
	if err != nil {
		return nil, err
	}
	out := map[string]nicState{}
	for _, nic := range nics {
		state := nicState{flags: strings.Split(nic.Flags.String(), "|")}
		addrs, err := nic.Addrs()
		if err != nil {
			return nil, err
		}
		for _, addr := range addrs {
			if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
				state.addresses = append(state.addresses, prefix)
			}
		}
		out[nic.Name] = state
	}
	return out, nil
}

// interfaces lists all interfaces of sysfs, and the host name, which may be
// made from one of them.
func (h host) interfaces(context.Context) (Apply, error) {
	states, err := h.addresses()
	if err != nil {
		return nil, err
	}
	nics := []wire.Interface{}
	for _, name := range h.names(netDir) {
		if h.exists(netDir, name, "ifindex") { // bonding_masters is a file
			nics = append(nics, h.nic(name, states[name]))
		}
	}
	slices.SortFunc(nics, func(a, b wire.Interface) int { return strings.Compare(a.Name, b.Name) })
	name, err := h.hostname()
	if err != nil {
		return nil, err
	}
	name = hostname(strings.TrimSpace(name), nics)
	return func(inv *wire.Inventory) { inv.Interfaces, inv.Hostname = nics, name }, nil
}

func (h host) nic(name string, state nicState) wire.Interface {
	base := filepath.Join(netDir, name)
	out := wire.Interface{
		Name: name, MACAddress: hostid.PermanentMAC(h.dir.Path(base)), MTU: h.number(base, "mtu"),
		HasCarrier: h.line(base, "carrier") == "1", SpeedMbps: h.number(base, "speed"),
		Vendor: h.line(base, "device/vendor"), Product: h.line(base, "device/device"),
		Type: h.nicType(base), Flags: list(state.flags), Ipv4Addresses: []string{}, Ipv6Addresses: []string{},
	}
	for _, p := range state.addresses {
		switch {
		case p.Addr().IsLinkLocalUnicast():
		case p.Addr().Is4():
			out.Ipv4Addresses = append(out.Ipv4Addresses, p.String())
		default:
			out.Ipv6Addresses = append(out.Ipv6Addresses, p.String())
		}
	}
	return out
}

// nicType is "physical", or the kernel's kind of a virtual interface.
func (h host) nicType(base string) string {
	target, err := os.Readlink(h.dir.Path(base))
	if err != nil || !strings.Contains(target, "/virtual/") {
		return "physical"
	}
	if h.line(base, "type") == "772" { // ARPHRD_LOOPBACK
		return "loopback"
	}
	kind := "device"
	fields(h.line(base, "uevent"), "=", func(key, value string) {
		if key == "DEVTYPE" {
			kind = value
		}
	})
	for file, is := range map[string]string{"bonding": "bond", "bridge": "bridge", "tun_flags": "tun"} {
		if h.exists(base, file) {
			kind = is
		}
	}
	return kind
}

// hostname replaces a name that says nothing by the MAC of the first usable NIC.
func hostname(name string, nics []wire.Interface) string {
	if !slices.Contains([]string{"localhost", "localhost4", "localhost6", "localhost.localdomain", "localhost4.localdomain4", "localhost6.localdomain6", "localhost.localdomain4", "localhost.localdomain6", "localhost4.localdomain", "localhost6.localdomain"}, name) {
		return name
	}
	for _, nic := range nics {
		usable := slices.Contains([]string{"physical", "vlan", "bond"}, nic.Type)
		if usable && nic.MACAddress != "" && len(nic.Ipv4Addresses)+len(nic.Ipv6Addresses) > 0 {
			return strings.ReplaceAll(nic.MACAddress, ":", "-")
		}
	}
	return name
}

// routes reads the main tables of both families, IPv4 first.
func (h host) routes(context.Context) (Apply, error) {
	v4, err := os.Open(h.dir.Path("/proc/net/route"))
	if err != nil {
		return nil, err
	}
	defer v4.Close()
	routes := []wire.Route{}
	for lines := bufio.NewScanner(v4); lines.Scan(); {
		if route, ok := route4(strings.Fields(lines.Text())); ok {
			routes = append(routes, route)
		}
	}
	if v6, err := os.Open(h.dir.Path("/proc/net/ipv6_route")); err == nil {
		defer v6.Close()
		for lines := bufio.NewScanner(v6); lines.Scan(); {
			if route, ok := route6(strings.Fields(lines.Text())); ok {
				routes = append(routes, route)
			}
		}
	}
	return func(inv *wire.Inventory) { inv.Routes = routes }, nil
}

// route4 reads a line of /proc/net/route: Iface Destination Gateway Flags
// RefCnt Use Metric …, addresses in hex, least significant byte first.
func route4(f []string) (wire.Route, bool) {
	if len(f) < 8 {
		return wire.Route{}, false
	}
	destination, ok1 := littleEndian4(f[1])
	gateway, ok2 := littleEndian4(f[2])
	metric, err := strconv.ParseInt(f[6], 10, 64)
	if !ok1 || !ok2 || err != nil {
		return wire.Route{}, false
	}
	route := wire.Route{Destination: destination.String(), Interface: f[0], Metric: metric, Family: familyIPv4}
	if !gateway.IsUnspecified() {
		route.Gateway = gateway.String()
	}
	return route, true
}

func littleEndian4(text string) (netip.Addr, bool) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != 4 {
		return netip.Addr{}, false
	}
	slices.Reverse(raw)
	return netip.AddrFromSlice(raw)
}

const (
	rtfUp     = 0x0001
	rtfReject = 0x0200
	rtfLocal  = 0x80000000
)

// route6 reads a line of /proc/net/ipv6_route: destination, prefix length,
// source, its length, gateway, metric (hex), …, flags, interface. The file
// holds the local table too, whose lines carry the local flag.
func route6(f []string) (wire.Route, bool) {
	if len(f) < 10 {
		return wire.Route{}, false
	}
	destination, err1 := hex.DecodeString(f[0])
	gateway, err2 := hex.DecodeString(f[4])
	metric, err3 := strconv.ParseInt(f[5], 16, 64)
	flags, err4 := strconv.ParseUint(f[8], 16, 32)
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || len(destination) != 16 || len(gateway) != 16 {
		return wire.Route{}, false
	}
	to, _ := netip.AddrFromSlice(destination)
	via, _ := netip.AddrFromSlice(gateway)
	if flags&rtfUp == 0 || flags&(rtfReject|rtfLocal) != 0 || f[9] == "lo" || to.IsMulticast() {
		return wire.Route{}, false
	}
	route := wire.Route{Destination: to.String(), Interface: f[9], Metric: metric, Family: familyIPv6}
	if !via.IsUnspecified() {
		route.Gateway = via.String()
	}
	return route, true
}
