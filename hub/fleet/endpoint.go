package fleet

import (
	"strings"

	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// endpoint notes what opens the Ignition of the cluster that the host joins. An empty
// token, and a list without headers, remove what was there.
func endpoint(host *store.Host, p wire.HostUpdateParams) error {
	if p.FencingCredentials != nil {
		return refusal.BadRequest("fencing_credentials: this hub makes no clusters with fencing")
	}
	if p.IgnitionEndpointToken != nil {
		if strings.ContainsAny(*p.IgnitionEndpointToken, "\r\n") {
			return refusal.BadRequest("ignition_endpoint_token: want one line") // it is a secret
		}
		host.EndpointToken = *p.IgnitionEndpointToken
		host.API.IgnitionEndpointTokenSet = host.EndpointToken != ""
	}
	if p.IgnitionEndpointHTTPHeaders == nil {
		return nil
	}
	for _, h := range p.IgnitionEndpointHTTPHeaders {
		if !isToken(h.Key) || strings.ContainsAny(h.Value, "\r\n") {
			return refusal.BadRequest("ignition_endpoint_http_headers: %.80q is no header", h.Key)
		}
	}
	host.EndpointHeaders = p.IgnitionEndpointHTTPHeaders
	return nil
}

// isToken tells that a header can be named so.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r >= 127 || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
