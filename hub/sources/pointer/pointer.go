// Package pointer is the source of hosts that join a cluster which runs: their
// installed system fetches its configuration from the cluster's own server when it
// starts for the first time. It makes nothing for a cluster that is yet to be.
//
// [Source] is the source; [Config] is the configuration of one host, and [Read] tells where one points.
package pointer

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"

	v3 "github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"

	"github.com/ironflow/ironflow/hub/sources"
)

// Source implements [sources.Source]. The zero value is ready.
type Source struct{}

var _ sources.Source = Source{}

// Ending implements [sources.Source]: the cluster runs, and nobody reports a host's end.
func (Source) Ending(*sources.Order) sources.Ending { return sources.EndsWithHosts }

// Lacks implements [sources.Source].
func (Source) Lacks(_ context.Context, o *sources.Order) []sources.Lack {
	var all []sources.Lack
	for _, h := range o.Hosts {
		all = append(all, Lacks(h)...)
	}
	return all
}

// Lacks is what a host needs to be pointed somewhere.
func Lacks(h sources.Host) []sources.Lack {
	switch {
	case !h.Joins:
		return []sources.Lack{{
			What: fmt.Sprintf("host %s does not join a cluster that runs", h.Name),
			Next: "choose another Ignition source for the cluster; " + string(sources.Pointer) + " serves hosts that are added later",
		}}
	case h.Endpoint == nil:
		return []sources.Lack{{
			What: fmt.Sprintf("host %s joins a cluster of which nobody is known to hand out Ignition", h.Name),
			Next: "set ignition_endpoint.url of the cluster",
		}}
	}
	if u, err := url.Parse(h.Endpoint.URL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return []sources.Lack{{What: fmt.Sprintf("ignition_endpoint.url %q is no address", h.Endpoint.URL), Next: "set it to one that begins with https://"}}
	}
	if h.Endpoint.CA != "" {
		raw, err := base64.StdEncoding.DecodeString(h.Endpoint.CA)
		if block, _ := pem.Decode(raw); err != nil || block == nil {
			return []sources.Lack{{What: "ignition_endpoint.ca_certificate is no certificate", Next: "set it to one in PEM, encoded in base64"}}
		}
	}
	return nil
}

// Make implements [sources.Source].
func (s Source) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	if lacks := s.Lacks(ctx, o); len(lacks) > 0 {
		return nil, sources.Lacking(lacks)
	}
	made := &sources.Made{Hosts: map[string][]byte{}}
	for _, h := range o.Hosts {
		raw, err := Config(h.Endpoint)
		if err != nil {
			return nil, err
		}
		made.Hosts[h.ID] = raw
	}
	return made, nil
}

// Config merges what the server has. Its CA and its token, where it has some, are part
// of the configuration, which is therefore secret.
func Config(e *sources.Endpoint) ([]byte, error) {
	merged := types.Resource{Source: &e.URL}
	if e.Token != "" {
		merged.HTTPHeaders = append(merged.HTTPHeaders, types.HTTPHeader{Name: "Authorization", Value: new("Bearer " + e.Token)})
	}
	for _, h := range e.Headers {
		merged.HTTPHeaders = append(merged.HTTPHeaders, types.HTTPHeader{Name: h.Name, Value: new(h.Value)})
	}
	config := types.Config{Ignition: types.Ignition{
		Version: types.MaxVersion.String(), Config: types.IgnitionConfig{Merge: []types.Resource{merged}},
	}}
	if e.CA != "" {
		source := "data:text/plain;charset=utf-8;base64," + e.CA
		config = v3.Merge(config, types.Config{Ignition: types.Ignition{
			Version: types.MaxVersion.String(), Security: types.Security{TLS: types.TLS{CertificateAuthorities: []types.Resource{{Source: &source}}}},
		}})
	}
	return json.Marshal(config)
}
