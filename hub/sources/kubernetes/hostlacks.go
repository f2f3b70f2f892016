package kubernetes

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// Bounds of Kubernetes: bits of a service network that count, and bits between the pod
// network and a node's share.
const (
	maxServiceBits = 20
	maxShareBits   = 16
)

// lackNetworks wants what kubeadm and the API server take.
func lackNetworks(o *sources.Order, f *found) {
	n, unreadable := networksOf(&o.Cluster)
	for _, one := range unreadable {
		f.add(one, "write it as ADDRESS/LENGTH")
	}
	lackFamilies("service networks", n.services, f)
	lackFamilies("cluster networks", n.pods, f)
	if len(n.services) == 0 || len(n.pods) == 0 {
		return
	}
	if !slices.Equal(sortedFamilies(n.services), sortedFamilies(n.pods)) {
		f.add(fmt.Sprintf("cluster networks %s and service networks %s of other families", text(n.pods), text(n.services)), "give both one network of each family that the cluster has")
	}
	for _, s := range n.services {
		if bits := s.Addr().BitLen() - s.Bits(); bits > maxServiceBits {
			f.add("service network "+s.String(), fmt.Sprintf("use at most /%d", s.Addr().BitLen()-maxServiceBits))
		}
	}
	for _, p := range n.pods {
		share := n.hostPrefix[p.Addr().Is6()]
		if share == 0 {
			if share = 24; p.Addr().Is6() { // the default of Kubernetes
				share = 64
			}
		}
		if bits := share - int64(p.Bits()); bits < 0 || bits > maxShareBits || share > int64(p.Addr().BitLen()) {
			f.add(fmt.Sprintf("cluster network %s with shares of /%d for each node", p, share), fmt.Sprintf("use a host_prefix of %d to %d", p.Bits(), min(p.Bits()+maxShareBits, p.Addr().BitLen())))
		}
	}
}

// lackFamilies wants one network of a family, or one of each.
func lackFamilies(what string, all []netip.Prefix, f *found) {
	families := sortedFamilies(all)
	switch {
	case len(all) == 0:
		f.add(what, "set one, or one of each address family")
	case len(slices.Compact(families)) != len(all):
		f.add(what+" "+text(all), "use one, or one of each address family: Kubernetes takes no more")
	}
}

// sortedFamilies are 4 and 6.
func sortedFamilies(all []netip.Prefix) []int {
	out := make([]int, len(all))
	for i, one := range all {
		out[i] = family(one.Addr())
	}
	slices.Sort(out)
	return out
}

var (
	// dnsName is a name in DNS, as Kubernetes takes them.
	dnsName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	port    = regexp.MustCompile(`^[1-9][0-9]{0,4}$`)
)

// maxName is the longest name, in bytes.
const maxName = 253

// lackEndpoint wants a way to the API.
func lackEndpoint(o *sources.Order, f *found) {
	if name := o.Kubernetes.Endpoint; name != "" {
		host, number := splitEndpoint(name)
		_, err := netip.ParseAddr(host)
		if n, _ := strconv.Atoi(number); !port.MatchString(number) || n > 65535 || err != nil && (len(host) > maxName || !dnsName.MatchString(host)) {
			f.add("the endpoint "+strconv.Quote(name), "write a name in DNS, in small letters, or an address, with :PORT where it is not 6443")
		}
		return
	}
	if endpointOf(o) == "" && (joins(o) || masters(o) > 0) {
		f.add("neither an endpoint nor an API address", "set the endpoint to a name that leads to all hosts of the control plane, or set api_vips; one host alone needs an address in the machine networks")
	}
}

var (
	labelValue  = regexp.MustCompile(`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`)
	labelName   = regexp.MustCompile(`^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`)
	maxLabel    = 63
	clusterName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)
)

// lackHosts wants hosts that can be nodes.
func lackHosts(o *sources.Order, f *found) {
	if !clusterName.MatchString(o.Cluster.Name) {
		f.add("the cluster's name "+strconv.Quote(o.Cluster.Name), "use letters, digits, dots and dashes")
	}
	if domain := o.Cluster.BaseDNSDomain; domain != "" && !dnsName.MatchString("api."+strings.ToLower(o.Cluster.Name)+"."+domain) {
		f.add("the base domain "+strconv.Quote(domain), "use a domain in DNS, in small letters")
	}
	n, _ := networksOf(&o.Cluster)
	seen := map[string]bool{}
	for _, h := range o.Hosts {
		name := nodeName(&h)
		if len(name) > maxName || !dnsName.MatchString(name) {
			f.add("host "+strconv.Quote(h.Name), "set its requested host name to one in DNS")
		}
		if seen[name] {
			f.add("two hosts named "+name, "set other requested host names: a node is known by its name")
		}
		seen[name] = true
		if h.Role != wire.HostRoleMaster && h.Role != wire.HostRoleWorker {
			f.add(fmt.Sprintf("host %s with the role %s", h.Name, h.Role), "use master or worker: kubeadm knows no other")
		}
		if own := n.nodeAddresses(&h); len(n.services) == 2 && len(h.Addresses) > 0 && len(own) < 2 {
			f.add("host "+h.Name+" has no address of each family in the machine networks", "check its network: the cluster has both")
		}
		for _, key := range slices.Sorted(maps.Keys(h.Labels)) {
			if !label(key, h.Labels[key]) {
				f.add(fmt.Sprintf("label %q of host %s", key+"="+h.Labels[key], h.Name), "write a label that Kubernetes takes")
			}
		}
	}
}

// label tells that Kubernetes takes a label.
func label(key, value string) bool {
	domain, name, prefixed := strings.Cut(key, "/")
	if !prefixed {
		domain, name = "", key
	}
	return len(name) <= maxLabel && labelName.MatchString(name) && (!prefixed || len(domain) <= maxName && dnsName.MatchString(domain)) &&
		len(value) <= maxLabel && labelValue.MatchString(value)
}
