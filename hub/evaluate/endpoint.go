package evaluate

import (
	"cmp"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// APIName is how the API of a cluster is called where nobody has named it otherwise.
func APIName(c *wire.Cluster) string { return "api." + c.Name + "." + c.BaseDNSDomain }

// Endpoint says where hosts that join the cluster get their configurations from, and by which authority they know that
// server: what people say, and else what the installation's own files do. Without an address it is that of the cluster's
// API; nil where nobody says anything.
func Endpoint(c *store.Cluster) *wire.IgnitionEndpoint {
	given, served := c.API.IgnitionEndpoint, c.Served
	switch {
	case served == nil, given != nil && wire.Value(given.URL) != "":
		return given
	case given == nil:
		given = &wire.IgnitionEndpoint{}
	}
	out := wire.IgnitionEndpoint{URL: served.URL, CaCertificate: cmp.Or(given.CaCertificate, served.CaCertificate)}
	if wire.Value(c.API.APIVIPDNSName) != APIName(&c.API) { // somebody has named the server
		out.URL = nil
	}
	return &out
}
