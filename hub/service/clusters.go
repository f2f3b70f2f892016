package service

import (
	"context"
	"regexp"
	"slices"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ClusterSpec is what a controller wants of a cluster.
type ClusterSpec struct {
	// ID is stable: the same object always asks for the same id.
	ID, Name, BaseDomain string
	// Masters, Arbiters and Workers say how many hosts the installation waits for.
	Masters, Arbiters, Workers int
	// Version and ReleaseImage are empty for clusters without a release.
	Version, ReleaseImage string
	SSHKey, PullSecret    string
	// MachineNetworks in CIDR form.
	MachineNetworks []string
	// Hold keeps a ready cluster from being installed.
	Hold bool
}

func (w *work) newCluster(id string) *store.Cluster {
	return &store.Cluster{API: wire.Cluster{
		ID: id, Kind: wire.ClusterKindCluster, Href: "/api/assisted-install/v2/clusters/" + id,
		Status: wire.ClusterStatusInsufficient, StatusInfo: "Waiting for hosts", StatusUpdatedAt: w.at(),
		CreatedAt: w.now, UpdatedAt: w.now, Hyperthreading: wire.ClusterHyperthreadingAll,
	}}
}

// EnsureCluster makes the cluster or brings it up to date. It is installed by
// itself as soon as all of its hosts are there, approved and ready. Numbers of
// hosts and release cannot change once the installation has begun.
func (h *Hub) EnsureCluster(ctx context.Context, spec ClusterSpec) (wire.Cluster, error) {
	if uuid.Validate(spec.ID) != nil {
		return wire.Cluster{}, badRequest("cluster id %q is not a UUID", spec.ID)
	}
	if spec.Masters < 1 {
		return wire.Cluster{}, badRequest("cluster %s needs at least one control-plane host", spec.Name)
	}
	var out wire.Cluster
	err := h.update(ctx, func(w *work) error {
		c, err := w.cluster(spec.ID)
		fresh := IsNotFound(err)
		if err != nil && !fresh {
			return err
		}
		if fresh {
			c = w.newCluster(spec.ID)
			if err := w.clusterEvent(c, "cluster_registration_succeeded", wire.EventSeverityInfo, "registered", props{"cluster_kind": c.API.Kind}); err != nil {
				return err
			}
		}
		before := mustJSON(c)
		if fresh || slices.Contains(clustermachine.Open, c.API.Status) {
			spec.apply(c)
			defaultNetworks(c)
		}
		c.Hold, c.AutoInstall = spec.Hold, true
		if fresh || mustJSON(c) != before {
			w.touchCluster(c)
		}
		if err := w.settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}

func (spec ClusterSpec) apply(c *store.Cluster) {
	c.Masters, c.Arbiters, c.Workers, c.PullSecret = spec.Masters, spec.Arbiters, spec.Workers, spec.PullSecret
	c.API.Name, c.API.BaseDNSDomain, c.API.SSHPublicKey = spec.Name, spec.BaseDomain, spec.SSHKey
	c.API.OpenshiftVersion, c.API.OcpReleaseImage, c.API.PullSecretSet = spec.Version, spec.ReleaseImage, spec.PullSecret != ""
	c.API.ControlPlaneCount = int64(spec.Masters)
	mode := wire.ClusterHighAvailabilityModeFull
	if singleNode(c) {
		mode = wire.ClusterHighAvailabilityModeNone
	}
	c.API.HighAvailabilityMode = &mode
	c.API.MachineNetworks = nil
	for _, cidr := range spec.MachineNetworks {
		c.API.MachineNetworks = append(c.API.MachineNetworks, wire.MachineNetwork{CIDR: wire.Subnet(cidr)})
	}
}

var clusterNameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

const maxClusterName = 54

// CreateCluster makes a cluster for a user of the REST API. It waits for the
// hosts of its control plane, and for the call to install it.
func (h *Hub) CreateCluster(ctx context.Context, p wire.ClusterCreateParams) (wire.Cluster, error) {
	if !clusterNameForm.MatchString(p.Name) || len(p.Name) > maxClusterName {
		return wire.Cluster{}, badRequest("name %q: want at most %d lower-case letters, digits and dashes", p.Name, maxClusterName)
	}
	if err := checkPullSecret(p.PullSecret); err != nil {
		return wire.Cluster{}, err
	}
	if p.VIPDHCPAllocation != nil && *p.VIPDHCPAllocation {
		return wire.Cluster{}, badRequest("vip_dhcp_allocation is not served by this hub; give api_vips and ingress_vips")
	}
	masters, err := controlPlane(p.ControlPlaneCount, p.HighAvailabilityMode)
	if err != nil {
		return wire.Cluster{}, err
	}
	var out wire.Cluster
	err = h.update(ctx, func(w *work) error {
		c := w.newCluster(uuid.NewString())
		ClusterSpec{
			Name: p.Name, BaseDomain: p.BaseDNSDomain, Masters: masters, Version: p.OpenshiftVersion,
			ReleaseImage: p.OcpReleaseImage, SSHKey: p.SSHPublicKey, PullSecret: p.PullSecret,
		}.apply(c)
		c.API.MachineNetworks, c.API.ClusterNetworks, c.API.ServiceNetworks = p.MachineNetworks, p.ClusterNetworks, p.ServiceNetworks
		c.API.APIVIPs, c.API.IngressVIPs, c.API.NetworkType = p.APIVIPs, p.IngressVIPs, p.NetworkType
		c.API.HTTPProxy, c.API.HTTPSProxy, c.API.NoProxy = value(p.HTTPProxy), value(p.HTTPSProxy), value(p.NoProxy)
		c.API.AdditionalNTPSource, c.API.Tags, c.API.DiskEncryption = value(p.AdditionalNTPSource), value(p.Tags), p.DiskEncryption
		c.API.CPUArchitecture, c.API.UserManagedNetworking, c.API.Platform = p.CPUArchitecture, p.UserManagedNetworking, p.Platform
		c.API.LoadBalancer = p.LoadBalancer
		defaultNetworks(c)
		unverify(&c.API, wire.Cluster{})
		w.touchCluster(c)
		if err := w.clusterEvent(c, "cluster_registration_succeeded", wire.EventSeverityInfo, "registered", props{"cluster_kind": c.API.Kind}); err != nil {
			return err
		}
		if err := w.settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}

// controlPlane reads the number of control-plane hosts from its two members.
func controlPlane(count *int64, mode *string) (int, error) {
	switch {
	case count != nil && (*count < 1 || *count > 5):
		return 0, badRequest("control_plane_count %d: want 1 to 5", *count)
	case count != nil:
		return int(*count), nil
	case value(mode) == wire.ClusterHighAvailabilityModeNone:
		return 1, nil
	}
	return 3, nil
}

// UpdateCluster changes the members that are given; only before an installation.
func (h *Hub) UpdateCluster(ctx context.Context, id string, p wire.V2ClusterUpdateParams) (wire.Cluster, error) {
	var out wire.Cluster
	err := h.update(ctx, func(w *work) error {
		c, err := w.cluster(id)
		if err != nil {
			return err
		}
		if !slices.Contains(clustermachine.Open, c.API.Status) {
			return conflict("cluster %s cannot change while it is %s", c.API.Name, c.API.Status)
		}
		if p.Name != nil && (!clusterNameForm.MatchString(*p.Name) || len(*p.Name) > maxClusterName) {
			return badRequest("name %q: want at most %d lower-case letters, digits and dashes", *p.Name, maxClusterName)
		}
		if p.PullSecret != nil {
			if err := checkPullSecret(*p.PullSecret); err != nil {
				return err
			}
			c.PullSecret, c.API.PullSecretSet = *p.PullSecret, true
		}
		before := c.API
		changeCluster(&c.API, p)
		unverify(&c.API, before)
		if p.ControlPlaneCount != nil {
			if c.Masters, err = controlPlane(p.ControlPlaneCount, nil); err != nil {
				return err
			}
			c.API.ControlPlaneCount = *p.ControlPlaneCount
		}
		w.touchCluster(c)
		if err := w.settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	return out, err
}

func changeCluster(c *wire.Cluster, p wire.V2ClusterUpdateParams) {
	set(&c.Name, p.Name)
	set(&c.BaseDNSDomain, p.BaseDNSDomain)
	set(&c.SSHPublicKey, p.SSHPublicKey)
	set(&c.HTTPProxy, p.HTTPProxy)
	set(&c.HTTPSProxy, p.HTTPSProxy)
	set(&c.NoProxy, p.NoProxy)
	set(&c.AdditionalNTPSource, p.AdditionalNTPSource)
	set(&c.Tags, p.Tags)
	for _, list := range []struct {
		given bool
		set   func()
	}{
		{p.MachineNetworks != nil, func() { c.MachineNetworks = p.MachineNetworks }},
		{p.ClusterNetworks != nil, func() { c.ClusterNetworks = p.ClusterNetworks }},
		{p.ServiceNetworks != nil, func() { c.ServiceNetworks = p.ServiceNetworks }},
		{p.APIVIPs != nil, func() { c.APIVIPs = p.APIVIPs }},
		{p.IngressVIPs != nil, func() { c.IngressVIPs = p.IngressVIPs }},
		{p.DiskEncryption != nil, func() { c.DiskEncryption = p.DiskEncryption }},
		{p.UserManagedNetworking != nil, func() { c.UserManagedNetworking = p.UserManagedNetworking }},
		{p.NetworkType != nil, func() { c.NetworkType = p.NetworkType }},
		{p.LoadBalancer != nil, func() { c.LoadBalancer = p.LoadBalancer }},
		{p.Platform != nil, func() { c.Platform = p.Platform }},
	} {
		if list.given {
			list.set()
		}
	}
}

// Cluster returns one cluster; its hosts too when wanted.
func (h *Hub) Cluster(ctx context.Context, id string, withHosts bool) (wire.Cluster, error) {
	var out wire.Cluster
	err := h.view(ctx, func(r *store.Reader) error {
		w := newWork(ctx, h, r)
		c, err := w.cluster(id)
		if err != nil {
			return err
		}
		out = c.API
		if !withHosts {
			return nil
		}
		hosts, err := w.hostsOf(id)
		for _, host := range hosts {
			out.Hosts = append(out.Hosts, host.API)
		}
		return err
	})
	return out, err
}

// Clusters returns all clusters without their hosts.
func (h *Hub) Clusters(ctx context.Context) (wire.ClusterList, error) {
	out := wire.ClusterList{}
	err := h.view(ctx, func(r *store.Reader) error {
		found, err := r.Clusters(store.ClusterFilter{})
		for _, c := range found {
			out = append(out, c.API)
		}
		return err
	})
	return out, err
}
