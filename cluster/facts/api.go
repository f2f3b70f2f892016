package facts

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// API is where the API of a cluster is, beside the hosts of its control plane.
type API struct {
	// Names are those in DNS, in small letters.
	Names []string `json:"names,omitempty"`
	// Addresses are its virtual ones.
	Addresses []netip.Addr `json:"addresses,omitempty"`
	// Services are the networks of services: it is one of them, and no host has an address there.
	Services []netip.Prefix `json:"services,omitempty"`
}

// APIOf is where the API of a cluster is, as the hub has it. What cannot be read is nobody's.
func APIOf(w *wire.Cluster) API {
	var out API
	if w.Name != "" && w.BaseDNSDomain != "" {
		domain := "." + w.Name + "." + w.BaseDNSDomain
		out.Names = []string{strings.ToLower("api" + domain), strings.ToLower("api-int" + domain)}
	}
	name := strings.ToLower(wire.Value(w.APIVIPDNSName))
	if a, err := netip.ParseAddr(name); err == nil {
		out.Addresses = append(out.Addresses, a.Unmap())
	} else if name != "" && !slices.Contains(out.Names, name) {
		out.Names = append(out.Names, name)
	}
	for _, one := range w.APIVIPs {
		if a, err := netip.ParseAddr(string(one.IP)); err == nil {
			out.Addresses = append(out.Addresses, a.Unmap())
		}
	}
	for _, one := range w.ServiceNetworks {
		if p, err := netip.ParsePrefix(string(one.CIDR)); err == nil {
			out.Services = append(out.Services, p.Masked())
		}
	}
	return out
}
