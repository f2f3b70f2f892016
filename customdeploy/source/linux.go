package source

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

// Linux is the kernel that this process runs on.
type Linux struct {
	// Dir is the root directory below which device files are.
	Dir hostfile.Dir
}

// Uname implements [Kernel].
func (Linux) Uname() (Uname, error) {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return Uname{}, fmt.Errorf("uname: %w", err)
	}
	return Uname{Nodename: unix.ByteSliceToString(u.Nodename[:]), Machine: unix.ByteSliceToString(u.Machine[:])}, nil
}

// Network implements [Kernel].
func (Linux) Network() (Network, error) {
	links, err := netlink.LinkList()
	if err = usable(err, len(links)); err != nil {
		return Network{}, fmt.Errorf("list links: %w", err)
	}
	addresses, err := netlink.AddrList(nil, netlink.FAMILY_ALL)
	if err = usable(err, len(addresses)); err != nil {
		return Network{}, fmt.Errorf("list addresses: %w", err)
	}
	byLink := map[int][]netip.Prefix{}
	for _, a := range addresses {
		if prefix, ok := prefixOf(a.IPNet); ok {
			byLink[a.LinkIndex] = append(byLink[a.LinkIndex], prefix)
		}
	}
	kinds := map[int]string{}
	for _, l := range links {
		kinds[l.Attrs().Index] = kind(l)
	}
	var out Network
	for _, l := range links {
		a := l.Attrs()
		out.Links = append(out.Links, Link{
			Index: a.Index, Name: a.Name, Kind: kind(l), MAC: a.HardwareAddr.String(), PermanentMAC: a.PermHWAddr.String(),
			Member: kinds[a.MasterIndex], MTU: a.MTU, Flags: flags(a.Flags), Carrier: a.RawFlags&unix.IFF_LOWER_UP != 0, Addresses: byLink[a.Index],
		})
	}
	for _, family := range []int{netlink.FAMILY_V4, netlink.FAMILY_V6} {
		routes, err := netlink.RouteList(nil, family)
		if err = usable(err, len(routes)); err != nil {
			return Network{}, fmt.Errorf("list routes: %w", err)
		}
		for _, r := range routes {
			if route, ok := routeOf(r, family); ok {
				out.Routes = append(out.Routes, route)
			}
		}
	}
	return out, nil
}

// usable forgives a dump that changed while it was read, if it brought anything:
// the next inventory will see the rest.
func usable(err error, n int) error {
	if errors.Is(err, netlink.ErrDumpInterrupted) && n > 0 {
		return nil
	}
	return err
}

// kind is the kernel's word; the library says "device" where it has none, and
// has a word of its own for tun.
func kind(l netlink.Link) string {
	switch k := l.Type(); k {
	case "device":
		return ""
	case "tuntap":
		return "tun"
	default:
		return k
	}
}

func flags(f net.Flags) []string {
	if f == 0 {
		return nil
	}
	return strings.Split(f.String(), "|")
}

func prefixOf(n *net.IPNet) (netip.Prefix, bool) {
	if n == nil {
		return netip.Prefix{}, false
	}
	addr, ok := netip.AddrFromSlice(n.IP)
	ones, bits := n.Mask.Size()
	if !ok || bits == 0 {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(addr.Unmap(), ones), true
}

func routeOf(r netlink.Route, family int) (Route, bool) {
	out := Route{Link: r.LinkIndex, Metric: r.Priority, Advertised: r.Protocol == unix.RTPROT_RA}
	gateway := r.Gw
	if len(r.MultiPath) > 0 {
		out.Link, gateway = r.MultiPath[0].LinkIndex, r.MultiPath[0].Gw
	}
	if addr, ok := netip.AddrFromSlice(gateway); ok {
		out.Gateway = addr.Unmap()
	}
	out.Destination = netip.PrefixFrom(netip.IPv4Unspecified(), 0)
	if family == netlink.FAMILY_V6 {
		out.Destination = netip.PrefixFrom(netip.IPv6Unspecified(), 0)
	}
	if r.Dst != nil {
		var ok bool
		if out.Destination, ok = prefixOf(r.Dst); !ok {
			return Route{}, false
		}
	}
	return out, out.Link != 0
}
