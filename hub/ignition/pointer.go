package ignition

import (
	v3 "github.com/coreos/ignition/v2/config/v3_6"
	"github.com/coreos/ignition/v2/config/v3_6/types"
)

// Pointer is where the installed system gets its configuration from when it starts
// for the first time: a server of the cluster that the host joins.
type Pointer struct {
	URL string
	// CA is the server's certificate authority, PEM in base64; empty for those that
	// the system trusts anyway.
	CA string
	// Headers open it.
	Headers []Header
}

// Header is one of a request.
type Header struct{ Name, Value string }

// config merges what the server has.
func (p *Pointer) config() types.Config {
	merged := types.Resource{Source: &p.URL}
	for _, h := range p.Headers {
		merged.HTTPHeaders = append(merged.HTTPHeaders, types.HTTPHeader{Name: h.Name, Value: &h.Value})
	}
	config := types.Config{Ignition: types.Ignition{
		Version: types.MaxVersion.String(), Config: types.IgnitionConfig{Merge: []types.Resource{merged}},
	}}
	if p.CA != "" {
		source := "data:text/plain;charset=utf-8;base64," + p.CA
		authority := types.Config{Ignition: types.Ignition{
			Version: types.MaxVersion.String(), Security: types.Security{TLS: types.TLS{CertificateAuthorities: []types.Resource{{Source: &source}}}},
		}}
		config = v3.Merge(config, authority)
	}
	return config
}
