package kubernetes

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/wire"
)

// lackPlaces wants hosts that nobody takes for the API. Kubelets' certificates are of the authority by which all know the
// API, and a host's name and addresses are what it says of itself. One of the control plane is the API, and may be where
// that is.
func lackPlaces(o *sources.Order, f *found) {
	host, _ := splitEndpoint(endpointOf(o))
	places := []string{host}
	for _, one := range o.Cluster.APIVIPs {
		places = append(places, string(one.IP))
	}
	for _, h := range o.Hosts {
		serves := h.Role == wire.HostRoleMaster
		if isService(nodeName(&h)) || !serves && slices.ContainsFunc(append([]string{h.Name}, h.Addresses...), func(own string) bool { return isAny(own, places) }) {
			f.add("host "+h.Name+" has the name or the address of the cluster's API", "set another requested host name, or check its network")
		}
	}
}

// isService tells that programs of every cluster know its API by the name.
func isService(name string) bool {
	return name == "localhost" || name == "kubernetes" || strings.HasPrefix(name, "kubernetes.default")
}

// isAny tells that a name or an address is one of others, in whatever spelling.
func isAny(own string, others []string) bool {
	a, err := netip.ParseAddr(own)
	return own != "" && slices.ContainsFunc(others, func(other string) bool {
		b, failure := netip.ParseAddr(other)
		return strings.EqualFold(own, other) || err == nil && failure == nil && a.Unmap() == b.Unmap()
	})
}
