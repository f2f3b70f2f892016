package instructions

import (
	"cmp"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// EndpointURL is where a host that joins an installed cluster gets its configuration
// from: where e says (see Endpoint of package evaluate), or the machine config server at the cluster's API address. The
// pool is the host's; empty means workers. Nothing for a cluster without an address.
func EndpointURL(c *wire.Cluster, e *wire.IgnitionEndpoint, pool string) string {
	pool = cmp.Or(pool, string(wire.HostRoleWorker))
	switch {
	case e != nil && wire.Value(e.URL) != "":
		return strings.TrimSuffix(*e.URL, "/") + "/" + pool
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
	request := wire.APIVIPConnectivityRequest{URL: EndpointURL(in.Cluster, in.Endpoint, in.Host.MachineConfigPoolName)}
	if request.URL == "" {
		return nil, errNothing
	}
	if e := in.Endpoint; e != nil && wire.Value(e.CaCertificate) != "" {
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
