package clusters

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Registry is the clusters of the hub. All methods are safe for concurrent use.
type Registry struct{ units *settle.Units }

// NewRegistry makes it.
func NewRegistry(units *settle.Units) *Registry { return &Registry{units} }

// New makes a cluster that is not stored yet.
func New(w *settle.Work, id string) *store.Cluster {
	return &store.Cluster{API: wire.Cluster{
		ID: id, Kind: wire.ClusterKindCluster, Href: href(id),
		Status: wire.ClusterStatusInsufficient, StatusInfo: "Waiting for hosts", StatusUpdatedAt: w.At(),
		CreatedAt: w.Now, UpdatedAt: w.Now, Hyperthreading: wire.ClusterHyperthreadingAll,
	}}
}

func href(id string) string { return "/api/assisted-install/v2/clusters/" + id }

// CreateCluster makes a cluster for a user of the REST API. It waits for the
// hosts of its control plane, and for the call to install it. The release is what its
// image says of itself; nil where nobody has read it.
func (r *Registry) CreateCluster(ctx context.Context, p wire.ClusterCreateParams, release *store.Release) (wire.Cluster, error) {
	if p.PullSecret == "" {
		return wire.Cluster{}, apierror.Missing("pull_secret", `want JSON with "auths"`)
	}
	settings := kubernetesSettings(p.Kubernetes)
	source := sources.Name(p.IgnitionSource)
	if err := r.checkSource(source, settings); err != nil {
		return wire.Cluster{}, err
	}
	if err := r.checkNoRelease(source, p.OpenshiftVersion, p.OcpReleaseImage); err != nil {
		return wire.Cluster{}, err
	}
	masters, err := controlPlane(p.ControlPlaneCount, p.HighAvailabilityMode)
	if err != nil {
		return wire.Cluster{}, err
	}
	return r.register(ctx, func(c *store.Cluster) error {
		if err := r.units.Made().KeepPullSecret(c, p.PullSecret); err != nil {
			return err
		}
		if err := fill(c, p, masters, release); err != nil {
			return err
		}
		if err := input.CheckCluster(nil, given(c, p.PullSecret)); err != nil {
			return err
		}
		return r.chooseOperators(c, p.OlmOperators, p.OperatorBundles)
	})
}

// fill has a new record be what is asked for, but for its pull secret and operators.
func fill(c *store.Cluster, p wire.ClusterCreateParams, masters int, release *store.Release) error {
	Spec{
		Name: p.Name, BaseDomain: p.BaseDNSDomain, Masters: masters, Version: p.OpenshiftVersion,
		ReleaseImage: p.OcpReleaseImage, Release: release, SSHKey: p.SSHPublicKey,
		Source: sources.Name(p.IgnitionSource), Kubernetes: kubernetesSettings(p.Kubernetes),
	}.apply(c)
	oldNetworks{cluster: p.ClusterNetworkCIDR, hostPrefix: p.ClusterNetworkHostPrefix, service: p.ServiceNetworkCIDR}.apply(&c.API)
	lists{p.MachineNetworks, p.ClusterNetworks, p.ServiceNetworks}.apply(&c.API)
	c.API.APIVIPs, c.API.IngressVIPs, c.API.NetworkType = p.APIVIPs, p.IngressVIPs, named(p.NetworkType)
	c.API.HTTPProxy, c.API.HTTPSProxy, c.API.NoProxy = wire.Value(p.HTTPProxy), wire.Value(p.HTTPSProxy), wire.Value(p.NoProxy)
	c.API.AdditionalNTPSource, c.API.Tags, c.API.DiskEncryption = wire.Value(p.AdditionalNTPSource), wire.Value(p.Tags), p.DiskEncryption
	c.API.CPUArchitecture, c.API.UserManagedNetworking, c.API.Platform = p.CPUArchitecture, p.UserManagedNetworking, p.Platform
	c.API.LoadBalancer, c.API.NTPSources, c.API.Hyperthreading = balancer(p.LoadBalancer), wire.Value(p.NTPSources), wire.Value(p.Hyperthreading)
	c.API.SchedulableMasters, c.API.IgnitionEndpoint = p.SchedulableMasters, p.IgnitionEndpoint
	c.API.VIPDHCPAllocation = p.VIPDHCPAllocation
	defaultNetworks(c)
	unverify(&c.API, wire.Cluster{})
	return checkLeased(c.API, p.APIVIPs, p.IngressVIPs)
}

// controlPlane reads the number of control-plane hosts from its two members.
func controlPlane(count *int64, mode *string) (int, error) {
	switch {
	case count != nil && (*count < 1 || *count > 5):
		return 0, &apierror.Error{Code: http.StatusBadRequest, Reason: fmt.Sprintf("control_plane_count %d: want 1 to 5", *count), Field: "control_plane_count"}
	case count != nil && wire.Value(mode) != "" && (*mode == wire.ClusterHighAvailabilityModeNone) != (*count == 1):
		return 0, apierror.Field("control_plane_count", "%d does not go with high_availability_mode %s: want one of them, or 1 with None", *count, *mode)
	case count != nil:
		return int(*count), nil
	case wire.Value(mode) == wire.ClusterHighAvailabilityModeNone:
		return 1, nil
	}
	return 3, nil
}

// UpdateCluster changes the members that are given; only before an installation.
func (r *Registry) UpdateCluster(ctx context.Context, id string, p wire.V2ClusterUpdateParams) (wire.Cluster, error) {
	var out wire.Cluster
	err := r.units.Update(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(id)
		if err != nil {
			return err
		}
		if !slices.Contains(clustermachine.Open, c.API.Status) {
			return apierror.Conflict("cluster %s cannot change while it is %s", c.API.Name, c.API.Status)
		}
		was, record := given(c, ""), *c
		if p.PullSecret != nil {
			if *p.PullSecret == "" {
				return apierror.Missing("pull_secret", `want JSON with "auths"`)
			}
			if err := r.units.Made().KeepPullSecret(c, *p.PullSecret); err != nil {
				return err
			}
		}
		before := c.API
		changeCluster(&c.API, p)
		followPlatform(&c.API, before, p)
		if err := resize(c, p); err != nil {
			return err
		}
		leaveAddresses(&c.API, before, p)
		if err := switchDHCP(c, before, p); err != nil {
			return err
		}
		unverify(&c.API, before)
		if err := input.CheckCluster(was, given(c, wire.Value(p.PullSecret))); err != nil {
			return err
		}
		if err := keeps(&record, c); err != nil {
			return err
		}
		if err := r.chooseOperators(c, p.OlmOperators, p.OperatorBundles); err != nil {
			return err
		}
		if c.API.Kind == wire.ClusterKindCluster {
			w.NoteOperators(c) // a single node may need others
		}
		w.TouchCluster(c)
		if before.HTTPProxy != c.API.HTTPProxy || before.HTTPSProxy != c.API.HTTPSProxy || before.NoProxy != c.API.NoProxy {
			if err := w.ClusterEvent(c, "proxy_settings_changed", wire.EventSeverityInfo, "its proxy was changed", nil); err != nil {
				return err
			}
		}
		if err := w.Settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}

// resize changes how many hosts the control plane has, with what follows from that. What
// the hub itself has set for a single node does not stay.
func resize(c *store.Cluster, p wire.V2ClusterUpdateParams) error {
	if p.ControlPlaneCount == nil {
		return nil
	}
	masters, err := controlPlane(p.ControlPlaneCount, nil)
	if err != nil {
		return err
	}
	single := evaluate.SingleNode(c)
	c.Masters, c.API.ControlPlaneCount = masters, int64(masters)
	mode := wire.ClusterHighAvailabilityModeFull
	if evaluate.SingleNode(c) {
		mode = wire.ClusterHighAvailabilityModeNone
	}
	c.API.HighAvailabilityMode = &mode
	if single && masters > 1 && p.UserManagedNetworking == nil && !isUsers(c.API.Platform) {
		c.API.UserManagedNetworking = nil
	}
	defaultNetworks(c)
	return nil
}

func changeCluster(c *wire.Cluster, p wire.V2ClusterUpdateParams) {
	wire.Set(&c.Name, p.Name)
	wire.Set(&c.BaseDNSDomain, p.BaseDNSDomain)
	wire.Set(&c.SSHPublicKey, p.SSHPublicKey)
	wire.Set(&c.HTTPProxy, p.HTTPProxy)
	wire.Set(&c.HTTPSProxy, p.HTTPSProxy)
	wire.Set(&c.NoProxy, p.NoProxy)
	wire.Set(&c.AdditionalNTPSource, p.AdditionalNTPSource)
	wire.Set(&c.Tags, p.Tags)
	wire.Set(&c.NTPSources, p.NTPSources)
	wire.Set(&c.Hyperthreading, p.Hyperthreading)
	old := oldNetworks{machine: p.MachineNetworkCIDR, cluster: p.ClusterNetworkCIDR, service: p.ServiceNetworkCIDR}
	wire.Set(&old.hostPrefix, p.ClusterNetworkHostPrefix)
	old.apply(c)
	lists{p.MachineNetworks, p.ClusterNetworks, p.ServiceNetworks}.apply(c)
	for _, list := range []struct {
		given bool
		set   func()
	}{
		{p.APIVIPs != nil, func() { c.APIVIPs = p.APIVIPs }},
		{p.IngressVIPs != nil, func() { c.IngressVIPs = p.IngressVIPs }},
		{p.DiskEncryption != nil, func() { c.DiskEncryption = changedEncryption(c.DiskEncryption, p.DiskEncryption) }},
		{p.UserManagedNetworking != nil, func() { c.UserManagedNetworking = p.UserManagedNetworking }},
		{p.NetworkType != nil, func() { c.NetworkType = named(p.NetworkType) }},
		{p.LoadBalancer != nil, func() { c.LoadBalancer = balancer(p.LoadBalancer) }},
		{p.VIPDHCPAllocation != nil, func() { c.VIPDHCPAllocation = p.VIPDHCPAllocation }},
		{p.Platform != nil, func() { c.Platform = p.Platform }},
		{p.SchedulableMasters != nil, func() { c.SchedulableMasters = p.SchedulableMasters }},
		{p.IgnitionEndpoint != nil, func() { c.IgnitionEndpoint = changedEndpoint(c.IgnitionEndpoint, p.IgnitionEndpoint) }},
		{p.APIVIPDNSName != nil, func() { c.APIVIPDNSName = p.APIVIPDNSName }},
	} {
		if list.given {
			list.set()
		}
	}
}

// Cluster returns one cluster; its hosts too when wanted, without their reports: those of 500 hosts are 60 MB, and whoever follows
// a cluster asks often.
func (r *Registry) Cluster(ctx context.Context, id string, withHosts bool) (wire.Cluster, error) {
	var out wire.Cluster
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(id)
		if err != nil {
			return err
		}
		out = c.API
		if !withHosts {
			return nil
		}
		hosts, err := w.Reader.Hosts(store.HostFilter{ClusterID: id, Bare: true})
		if err != nil {
			return err
		}
		for _, host := range hosts {
			out.Hosts = append(out.Hosts, host.API)
		}
		return nil
	})
	return out, err
}

// Clusters returns the selected clusters, without their hosts.
func (r *Registry) Clusters(ctx context.Context, filter store.ClusterFilter) (wire.ClusterList, error) {
	out := wire.ClusterList{}
	err := r.units.View(ctx, func(w *settle.Work) error {
		found, err := w.Reader.Clusters(filter)
		for _, c := range found {
			out = append(out, c.API)
		}
		return err
	})
	return out, err
}
