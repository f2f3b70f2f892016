package kubernetes

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/authorities"
	"github.com/ironflow/ironflow/hub/sources/kubernetes/token"
	"github.com/ironflow/ironflow/hub/wire"
)

// defaultSocket is where containerd listens.
const defaultSocket = "unix:///run/containerd/containerd.sock"

// plan is what all hosts of an order have in common.
type plan struct {
	order       *sources.Order
	authorities *authorities.Set
	token       token.Token
	networks    networks
	vips        []netip.Addr
	// endpoint is where the API is, HOST:PORT.
	endpoint string
	// first is the index of the host that initialises the control plane, -1 for none.
	first int
}

// newPlan is the plan of an order that lacks nothing.
func newPlan(o *sources.Order, set *authorities.Set, t token.Token) *plan {
	n, _ := networksOf(&o.Cluster)
	v, _ := vips(&o.Cluster)
	return &plan{order: o, authorities: set, token: t, networks: n, vips: v, endpoint: endpointOf(o), first: first(o)}
}

// carriesVIP tells that hosts of the control plane carry the API's address: a load balancer
// of the site has its own.
func carriesVIP(o *sources.Order) bool { return len(o.Cluster.APIVIPs) > 0 && !balanced(o) }

// balanced tells that the API's address is that of a load balancer of the site.
func balanced(o *sources.Order) bool {
	return o.Cluster.LoadBalancer != nil && o.Cluster.LoadBalancer.Type == wire.LoadBalancerTypeUserManaged
}

// socket is where the container runtime listens.
func socket(o *sources.Order) string { return cmp.Or(o.Kubernetes.CRISocket, defaultSocket) }

// runtime is the unit of the container runtime.
func runtime(o *sources.Order) string {
	if strings.Contains(socket(o), "crio") {
		return "crio.service"
	}
	return "containerd.service"
}

// schedulable tells that pods of users may run on the control plane: when the cluster
// says so, and when it has no workers.
func schedulable(o *sources.Order) bool {
	if yes(o.Cluster.SchedulableMasters) || yes(o.Cluster.SchedulableMastersForcedTrue) {
		return true
	}
	workers := slices.ContainsFunc(o.Hosts, func(h sources.Host) bool { return h.Role == wire.HostRoleWorker })
	return !workers && !joins(o)
}

// yes tells that a setting is set and true.
func yes(b *bool) bool { return b != nil && *b }
