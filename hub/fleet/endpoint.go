package fleet

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// endpoint notes what opens the Ignition of the cluster that the host joins. An empty
// token, and a list without headers, remove what was there.
func endpoint(host *store.Host, p wire.HostUpdateParams) error {
	if p.FencingCredentials != nil {
		return apierror.BadRequest("fencing_credentials: this hub makes no clusters with fencing")
	}
	if p.IgnitionEndpointToken != nil {
		host.EndpointToken = *p.IgnitionEndpointToken
		host.API.IgnitionEndpointTokenSet = host.EndpointToken != ""
	}
	if p.IgnitionEndpointHTTPHeaders != nil {
		host.EndpointHeaders = p.IgnitionEndpointHTTPHeaders
	}
	return nil
}
