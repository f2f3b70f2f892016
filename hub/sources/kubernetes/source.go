// Package kubernetes is the source of Ignition that makes a plain Kubernetes by kubeadm.
//
// [Source.Make] makes the cluster's authorities, a bootstrap token with an end, and for
// each host an Ignition configuration with kubeadm's configuration and the units that
// run it. Hosts of the control plane get the authorities, mode 0600, so that nobody
// copies certificates; workers get a token and the authority's hash, and no private key.
// Nothing is fetched that the order does not name.
//
// A cluster that runs has to be told the token of a host that joins later: the host does
// not have the key to do it. [Source.Make] tells it over its API, with a certificate of the
// cluster's own authority, and makes nothing for a host that the cluster would not let in.
package kubernetes

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/admission"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/hub/wire"
)

// Kubeconfig is the credential with an administrator's access.
const Kubeconfig = "kubeconfig-noingress"

// The hub's own access to a cluster that runs: its name there, and how long it is good.
const (
	hubName = "ironflow-hub"
	hubLife = time.Hour
)

// Names of [sources.Made.Secrets] besides the authorities' files.
const (
	secretToken = "bootstrap-token"
	// secretEndpoint is where the API of the cluster is: HOST:PORT.
	secretEndpoint = "endpoint"
)

// Source makes a plain Kubernetes. The zero value is ready.
type Source struct {
	// Authorities are those of the clusters, made before, by their paths below kubeadm's
	// folder of certificates; nil has each cluster get its own. A hub with more than one
	// cluster must not have any.
	Authorities map[string][]byte
	// Admit has a cluster that runs take the token of a host; nil is [admission.Door.Admit].
	Admit func(ctx context.Context, d admission.Door, t token.Token, now time.Time) error
}

var _ sources.Source = Source{}

// Ending implements [sources.Source]: a program in the cluster sees nodes and pods.
func (Source) Ending(*sources.Order) sources.Ending { return sources.EndsInside }

// Lacks implements [sources.Source].
func (Source) Lacks(_ context.Context, o *sources.Order) []sources.Lack { return lacks(o) }

// Make implements [sources.Source].
func (s Source) Make(ctx context.Context, o *sources.Order) (*sources.Made, error) {
	if found := lacks(o); len(found) > 0 {
		return nil, sources.Lacking(found)
	}
	set, err := s.keptOrNew(o)
	if err != nil {
		return nil, err
	}
	t := token.Reuse(earlier(o, secretToken), o.Now)
	if joins(o) { // what others have brought with them is not given to one more
		t = token.New(o.Now)
	}
	p := newPlan(o, set, t)
	made := &sources.Made{Hosts: make(map[string][]byte, len(o.Hosts)), Secrets: set.Files()}
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
	if err := p.keep(made); err != nil {
		return nil, err
	}
	if joins(o) {
		if err := s.admit(ctx, p); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// admit has the cluster that runs let in who has the token of the order.
func (s Source) admit(ctx context.Context, p *plan) error {
	own, err := p.authorities.Administrator(hubName, p.order.Now, hubLife)
	if err != nil {
		return fmt.Errorf("the hub's access to the cluster: %w", err)
	}
	door := admission.Door{Endpoint: p.endpoint, CA: p.authorities.Certificate(), Certificate: own.Cert, Key: own.Key}
	if s.Admit != nil {
		return s.Admit(ctx, door, p.token, p.order.Now)
	}
	return door.Admit(ctx, p.token, p.order.Now)
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
	return nil
}

// keptOrNew are the cluster's authorities. Those that were made before are kept: hosts
// may have them already. A new cluster has those that were handed in.
func (s Source) keptOrNew(o *sources.Order) (*authorities.Set, error) {
	if o.Earlier != nil && len(o.Earlier.Secrets) > 0 {
		return authorities.Parse(o.Earlier.Secrets)
	}
	if len(s.Authorities) > 0 {
		set, err := authorities.Parse(s.Authorities)
		if err != nil {
			return nil, fmt.Errorf("certificates that were handed in: %w", err)
		}
		return set, nil
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
// one that the hub has chosen, else the first of the control plane. A host that comes
// after all others joins them, unless it is alone.
func first(o *sources.Order) int {
	found, last := -1, -1
	for i, h := range o.Hosts {
		switch {
		case h.Role != wire.HostRoleMaster || h.Joins:
		case h.Last:
			last = i
		case h.Bootstrap:
			return i
		case found < 0:
			found = i
		}
	}
	if found < 0 {
		return last
	}
	return found
}
