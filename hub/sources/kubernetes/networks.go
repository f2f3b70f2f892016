package kubernetes

import (
	"cmp"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// apiPort is the port of the API server.
const apiPort = 6443

// networks are those of the cluster, the first family first.
type networks struct {
	machine, pods, services []netip.Prefix
	// hostPrefix has the size of a node's share, by whether its network is IPv6; 0 for
	// the default of Kubernetes.
	hostPrefix map[bool]int64
}

// networksOf reads the networks. Those that cannot be read are the lacks of [lacks].
func networksOf(c *wire.Cluster) (n networks, unreadable []string) {
	n.hostPrefix = map[bool]int64{}
	read := func(what string, text wire.Subnet) (netip.Prefix, bool) {
		prefix, err := netip.ParsePrefix(string(text))
		if err != nil {
			unreadable = append(unreadable, what+" "+strconv.Quote(string(text)))
			return prefix, false
		}
		return prefix.Masked(), true
	}
	for _, one := range c.MachineNetworks {
		if prefix, ok := read("machine network", one.CIDR); ok {
			n.machine = append(n.machine, prefix)
		}
	}
	for _, one := range c.ServiceNetworks {
		if prefix, ok := read("service network", one.CIDR); ok {
			n.services = append(n.services, prefix)
		}
	}
	for _, one := range c.ClusterNetworks {
		if prefix, ok := read("cluster network", one.CIDR); ok {
			n.pods = append(n.pods, prefix)
			n.hostPrefix[prefix.Addr().Is6()] = one.HostPrefix
		}
	}
	return n, unreadable
}

// families are those of the services, by whether they are IPv6, the first one first.
func (n networks) families() []bool {
	all := make([]bool, len(n.services))
	for i, s := range n.services {
		all[i] = s.Addr().Is6()
	}
	return all
}

// text joins networks as Kubernetes writes them.
func text(all []netip.Prefix) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return strings.Join(out, ",")
}

// nodeAddresses are the addresses by which a host is a node: one of each family of the
// cluster, in their order.
func (n networks) nodeAddresses(h *sources.Host) (all []netip.Addr) {
	for _, six := range n.families() {
		i := slices.IndexFunc(h.Addresses, func(text string) bool {
			a, err := netip.ParseAddr(text)
			return err == nil && a.Is6() == six
		})
		if i >= 0 {
			all = append(all, netip.MustParseAddr(h.Addresses[i]))
		}
	}
	return all
}

// vips are the addresses of the API.
func vips(c *wire.Cluster) (all []netip.Addr, unreadable []string) {
	for _, one := range c.APIVIPs {
		a, err := netip.ParseAddr(string(one.IP))
		if err != nil {
			unreadable = append(unreadable, "API address "+strconv.Quote(string(one.IP)))
			continue
		}
		all = append(all, a)
	}
	return all, unreadable
}

// endpointOf is where the API of the cluster is, HOST:PORT; empty when there is none. A
// cluster that runs has the one that it began with, and a control plane of one host that
// host's address.
func endpointOf(o *sources.Order) string {
	if kept := earlier(o, secretEndpoint); joins(o) && len(kept) > 0 {
		return string(kept)
	}
	if name := o.Kubernetes.Endpoint; name != "" {
		host, port := splitEndpoint(name)
		return net.JoinHostPort(host, port)
	}
	if all, _ := vips(&o.Cluster); len(all) > 0 {
		return net.JoinHostPort(all[0].String(), strconv.Itoa(apiPort))
	}
	if masters(o) == 1 && first(o) >= 0 {
		n, _ := networksOf(&o.Cluster)
		if all := n.nodeAddresses(&o.Hosts[first(o)]); len(all) > 0 {
			return net.JoinHostPort(all[0].String(), strconv.Itoa(apiPort))
		}
	}
	return ""
}

// splitEndpoint is the host and the port of an endpoint, that of the API unless given.
func splitEndpoint(text string) (host, port string) {
	if host, port, err := net.SplitHostPort(text); err == nil {
		return host, cmp.Or(port, strconv.Itoa(apiPort))
	}
	return strings.Trim(text, "[]"), strconv.Itoa(apiPort)
}

// masters is how many hosts of the order make up a new control plane.
func masters(o *sources.Order) (count int) {
	for _, h := range o.Hosts {
		if h.Role == wire.HostRoleMaster && !h.Joins {
			count++
		}
	}
	return count
}
