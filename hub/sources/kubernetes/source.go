// Package kubernetes is the source of Ignition that makes a plain Kubernetes by kubeadm.
//
// [Source.Make] makes the cluster's authorities, a bootstrap token with an end, and for
// each host an Ignition configuration with kubeadm's configuration and the units that
// run it. Hosts of the control plane get the authorities, mode 0600, so that nobody
// copies certificates; workers get a token and the authority's hash, and no private key.
// Nothing is fetched that the order does not name.
//
// A cluster that runs has to be told the token of a host that joins later: the host does
// not have the key to do it. [Source.Make] then returns the manifest of that token among
// [sources.Made.Files], as [TokenManifest]. Whoever starts the host's installation applies
// it with [Kubeconfig]; that it is applied again does no harm.
package kubernetes

import (
	"context"
	"fmt"
	"maps"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// TokenManifest is the file with the Secret of the token by which hosts join a cluster
	// that runs. It is there when a host of the order joins.
	TokenManifest = "bootstrap-token.yaml"
	// Kubeconfig is the credential with an administrator's access.
	Kubeconfig = "kubeconfig-noingress"
)

// Names of [sources.Made.Secrets] besides the authorities' files.
const (
	secretToken = "bootstrap-token"
	// secretEndpoint is where the API of the cluster is: HOST:PORT.
	secretEndpoint = "endpoint"
)

// Source makes a plain Kubernetes. The zero value is ready.
type Source struct{}

var _ sources.Source = Source{}

// Ending implements [sources.Source]: a program in the cluster sees nodes and pods.
func (Source) Ending(*sources.Order) sources.Ending { return sources.EndsInside }

// Lacks implements [sources.Source].
func (Source) Lacks(_ context.Context, o *sources.Order) []sources.Lack { return lacks(o) }

// Make implements [sources.Source].
func (Source) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	if found := lacks(o); len(found) > 0 {
		return nil, sources.Lacking(found)
	}
	set, err := keptOrNew(o)
	if err != nil {
		return nil, err
	}
	p := newPlan(o, set, token.Reuse(earlier(o, secretToken), o.Now))
	made := &sources.Made{Hosts: make(map[string][]byte, len(o.Hosts)), Files: map[string][]byte{}, Secrets: set.Files()}
	for i := range o.Hosts {
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("Ignition of %d of %d hosts is made: %w", i, len(o.Hosts), context.Cause(ctx)) //nolint:staticcheck // a name
		}
		raw, err := p.ignition(&o.Hosts[i])
		if err != nil {
			return nil, fmt.Errorf("Ignition of host %s: %w", o.Hosts[i].Name, err) //nolint:staticcheck // a name
		}
		made.Hosts[o.Hosts[i].ID] = raw
	}
	return made, p.keep(made)
}

// keep adds what belongs to the whole cluster.
func (p *plan) keep(made *sources.Made) error {
	admin, err := p.authorities.Kubeconfig(p.order.Cluster.Name, "https://"+p.endpoint, p.order.Now)
	if err != nil {
		return err
	}
	made.Credentials = map[string][]byte{Kubeconfig: admin}
	kept, err := p.token.Keep()
	if err != nil {
		return fmt.Errorf("keep the bootstrap token: %w", err)
	}
	maps.Copy(made.Secrets, map[string][]byte{secretToken: kept, secretEndpoint: []byte(p.endpoint)})
	if !joins(p.order) {
		return nil
	}
	manifest, err := p.token.Manifest()
	if err != nil {
		return err
	}
	made.Files[TokenManifest] = manifest
	return nil
}

// keptOrNew are the cluster's authorities. Those that were made before are kept: hosts
// may have them already.
func keptOrNew(o *sources.Order) (*authorities.Set, error) {
	if o.Earlier != nil && len(o.Earlier.Secrets) > 0 {
		return authorities.Parse(o.Earlier.Secrets)
	}
	return authorities.New(o.Now)
}

// earlier is a secret that was made before, nil for none.
func earlier(o *sources.Order, name string) []byte {
	if o.Earlier == nil {
		return nil
	}
	return o.Earlier.Secrets[name]
}

// joins tells that hosts of the order join a cluster that runs.
func joins(o *sources.Order) bool {
	for _, h := range o.Hosts {
		if h.Joins {
			return true
		}
	}
	return false
}

// first is the index of the host that initialises the control plane, -1 for none: the
// one that the hub has chosen, else the first of the control plane.
func first(o *sources.Order) int {
	found := -1
	for i, h := range o.Hosts {
		switch {
		case h.Role != wire.HostRoleMaster || h.Joins:
		case h.Bootstrap:
			return i
		case found < 0:
			found = i
		}
	}
	return found
}
