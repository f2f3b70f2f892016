package instructions

import (
	"cmp"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// EndpointURL is where a host that joins an installed cluster gets its configuration
// from: where the cluster says, or the machine config server at its API address. The
// pool is the host's; empty means workers. Nothing for a cluster without an address.
func EndpointURL(c *wire.Cluster, pool string) string {
	pool = cmp.Or(pool, string(wire.HostRoleWorker))
	switch {
	case c.IgnitionEndpoint != nil && wire.Value(c.IgnitionEndpoint.URL) != "":
		return strings.TrimSuffix(*c.IgnitionEndpoint.URL, "/") + "/" + pool
	case wire.Value(c.APIVIPDNSName) != "":
		name := *c.APIVIPDNSName
		if strings.Contains(name, ":") { // an IPv6 address
			name = "[" + name + "]"
		}
		return "https://" + name + ":22623/config/" + pool
	}
	return ""
}

func buildAPIVIP(in Input) ([]string, error) {
	if in.Cluster == nil {
		return nil, errNothing
	}
	request := wire.APIVIPConnectivityRequest{URL: EndpointURL(in.Cluster, in.Host.MachineConfigPoolName)}
	if request.URL == "" {
		return nil, errNothing
	}
	if e := in.Cluster.IgnitionEndpoint; e != nil && wire.Value(e.CaCertificate) != "" {
		request.CaCertificate = e.CaCertificate
	}
	if in.EndpointToken != "" {
		request.IgnitionEndpointToken = &in.EndpointToken
	}
	for _, h := range in.EndpointHeaders {
		request.RequestHeaders = append(request.RequestHeaders, wire.APIVIPConnectivityAdditionalRequestHeader(h))
	}
	return encode(request)
}
