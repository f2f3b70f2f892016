package lan

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// segment is a network device of this machine with its addresses.
type segment struct {
	device string
	prefix netip.Prefix
	dhcp   DHCP
}

// configuration is dnsmasq's configuration file.
func configuration(segments []segment, names map[string]netip.Addr, leases string) string {
	var b strings.Builder
	line := func(format string, arguments ...any) { fmt.Fprintf(&b, format+"\n", arguments...) }
	line("# Only the networks of the test, and nothing of this machine's own resolver.")
	for _, option := range []string{
		"bind-interfaces", "except-interface=lo", "no-hosts", "no-resolv", "no-poll", "local=/#/", "user=root", "group=root", "pid-file=",
		"log-dhcp", "log-facility=-", "dhcp-authoritative", "domain=ironflow.test", "dhcp-leasefile=" + leases, "dhcp-ignore-clid",
	} {
		line("%s", option)
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		line("address=/%s/%s", name, names[name])
	}
	for _, s := range segments {
		line("interface=%s", s.device)
		if s.dhcp.Off {
			line("no-dhcp-interface=%s", s.device)
			continue
		}
		s.write(line)
	}
	return b.String()
}

// write writes what the server gives in one segment.
func (s segment) write(line func(string, ...any)) {
	first, last := pool(s.prefix)
	tag := s.device
	line("dhcp-range=set:%s,%s,%s,%s,1h", tag, first, last, mask(s.prefix))
	line("dhcp-option=tag:%s,option:router,%s", tag, s.prefix.Addr())
	line("dhcp-option=tag:%s,option:dns-server,%s", tag, s.prefix.Addr())
	for _, host := range s.dhcp.Hosts {
		name := ""
		if host.Name != "" {
			name = "," + host.Name
		}
		line("dhcp-host=%s,%s%s", host.MAC, host.Address, name)
	}
	if s.dhcp.Script != "" {
		// iPXE says what it is by its own option.
		line("dhcp-match=set:ipxe,175")
		line("dhcp-boot=tag:%s,tag:ipxe,%s", tag, s.dhcp.Script)
	}
	if s.dhcp.HTTPBoot != "" {
		// The firmware takes an answer that names the same class alone.
		line("dhcp-vendorclass=set:http,HTTPClient")
		line("dhcp-option-force=tag:%s,tag:http,option:vendor-class,HTTPClient", tag)
		line("dhcp-boot=tag:%s,tag:http,%s", tag, s.dhcp.HTTPBoot)
	}
}

// pool is the second half of the prefix, without its last address.
func pool(prefix netip.Prefix) (first, last netip.Addr) {
	raw := prefix.Masked().Addr().As4()
	size := uint32(1) << (32 - prefix.Bits())
	base := uint32(raw[0])<<24 | uint32(raw[1])<<16 | uint32(raw[2])<<8 | uint32(raw[3])
	return address(base + size/2), address(base + size - 2)
}

// mask is the prefix's length as a netmask.
func mask(prefix netip.Prefix) netip.Addr { return address(^uint32(0) << (32 - prefix.Bits())) }

func address(v uint32) netip.Addr {
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)})
}

// lease is an address that the server has given.
type lease struct {
	mac     string
	address netip.Addr
}

// parseLeases reads the server's file: expiry, hardware address, address, name,
// client id. Lines of another shape are left out.
func parseLeases(text string) []lease {
	var out []lease
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) < 3 {
			continue
		}
		if a, err := netip.ParseAddr(fields[2]); err == nil {
			out = append(out, lease{mac: fields[1], address: a})
		}
	}
	return out
}
