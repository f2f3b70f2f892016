package clusters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// Spec is what a controller wants of a cluster: all of it, each time. What is empty is
// not wanted, or left to the hub where that has a default.
type Spec struct {
	// ID is stable: the same object always asks for the same id.
	ID, Name, BaseDomain string
	// Masters, Arbiters and Workers say how many hosts the installation waits for.
	Masters, Arbiters, Workers int
	// Version and ReleaseImage are empty for clusters without a release.
	Version, ReleaseImage string
	// Release is what the image says of itself. Nil leaves what is known of the same image.
	Release            *store.Release
	SSHKey, PullSecret string
	// MachineNetworks and ServiceNetworks in CIDR form.
	MachineNetworks, ServiceNetworks []string
	ClusterNetworks                  []wire.ClusterNetwork
	// NetworkType is empty for the hub's choice.
	NetworkType string
	// UserManagedNetworking is nil for the hub's choice.
	UserManagedNetworking *bool
	// APIVIPs and IngressVIPs are addresses without prefix length.
	APIVIPs, IngressVIPs           []string
	HTTPProxy, HTTPSProxy, NoProxy string
	// NTPSources are comma-separated.
	NTPSources       string
	DiskEncryption   *wire.DiskEncryption
	IgnitionEndpoint *wire.IgnitionEndpoint
	Platform         *wire.Platform
	LoadBalancer     *wire.LoadBalancer
	// SchedulableMasters lets workloads run on control-plane hosts.
	SchedulableMasters bool
	// Hyperthreading names the roles that have it; empty for all.
	Hyperthreading string
	// InstallConfigOverrides is a JSON object in text.
	InstallConfigOverrides string
	// IgnoredClusterValidations and IgnoredHostValidations are ids, or all.
	IgnoredClusterValidations, IgnoredHostValidations []string
	// Tags are words for people.
	Tags string
	// Manifests are added to those that users of the REST API add.
	Manifests []sources.Manifest
	// Files are handed to the source files.
	Files []sources.File
	// Source makes the hosts' Ignition; empty for the hub's own choice.
	Source sources.Name
	// Kubernetes are the settings of source kubernetes.
	Kubernetes *sources.KubernetesSettings
	// Hold keeps a ready cluster from being installed.
	Hold bool
	// Revoke revokes the token of the program inside once for each other text; empty revokes nothing.
	Revoke string
	// Was is the status that the object shows. It counts when there is no record: then
	// that was lost with the store, and the cluster is not installed again by itself.
	Was string
	// Imported tells that somebody else has installed the cluster: its hosts have their Ignition from it.
	Imported bool
	// Arrived tells that Was came along with the object from elsewhere, so that the objects of its hosts
	// may come later.
	Arrived bool
}

// TooLate is the error of a spec that asks for something that cannot change any more.
// All else of it was taken.
type TooLate struct { //nolint:errname // what it says, as in refusal
	// Cluster and Status are the cluster's.
	Cluster, Status string
	// Members are those of [Spec] that the cluster has otherwise.
	Members []string
}

// Error says what cannot change, and why.
func (e *TooLate) Error() string {
	return fmt.Sprintf("%s of cluster %s cannot change any more: it is %s", strings.Join(e.Members, ", "), e.Cluster, e.Status)
}

// Until says in words until when a member of [Spec] can change.
func (e *TooLate) Until(member string) string { return ChangesUntil(member) }

// EnsureCluster makes the cluster or brings it up to date. It is installed by
// itself as soon as all of its hosts are there, approved and ready. Once its
// installation has begun, only some of it can change: see [TooLate].
func (r *Registry) EnsureCluster(ctx context.Context, spec Spec) (wire.Cluster, error) {
	if err := spec.check(); err != nil {
		return wire.Cluster{}, err
	}
	if err := r.checkSource(spec.Source, spec.Kubernetes); err != nil {
		return wire.Cluster{}, err
	}
	if err := r.checkFiles(spec.Source, spec.Files); err != nil {
		return wire.Cluster{}, err
	}
	var out wire.Cluster
	var late []string
	err := r.units.Update(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(spec.ID)
		fresh := apierror.IsNotFound(err)
		if err != nil && !fresh {
			return err
		}
		if fresh {
			c = New(w, spec.ID)
		}
		before := unit.Text(c)
		if err := spec.putBack(w, c); err != nil {
			return err
		}
		if late, err = spec.bring(w, r.units.Made(), c, fresh); err != nil {
			return err
		}
		if fresh {
			if err := spec.announce(w, c); err != nil {
				return err
			}
		}
		if err := spec.revokeFor(w, c); err != nil {
			return err
		}
		c.Hold, c.AutoInstall = spec.Hold, true
		if c.Hold && c.CalledOff { // from here on it is the hold that keeps it
			c.CalledOff, c.API.LastInstallationPreparation = false, wire.LastInstallationPreparation{}
		}
		if fresh || unit.Text(c) != before {
			c.PreparedAt, c.Preparations = time.Time{}, 0 // a person has changed something
			w.TouchCluster(c)
		}
		if err := w.Settle(); err != nil {
			return err
		}
		out = c.API
		return nil
	})
	if err == nil && len(late) > 0 {
		return out, &TooLate{Cluster: out.Name, Status: out.Status, Members: late}
	}
	return out, err
}

// putBack has a record of a backup be what the object has seen of the cluster since. An installation that ran at
// the backup and runs still goes on.
func (spec Spec) putBack(w *settle.Work, c *store.Cluster) error {
	if !c.Restored {
		return nil
	}
	c.Restored = false
	if !clustermachine.Overtaken(c.API.Status, spec.Was) || !recovered(w, c, spec.Was) {
		return nil
	}
	return w.ClusterEvent(c, "cluster_recovered", wire.EventSeverityWarning, "its record was that of a backup: "+c.API.StatusInfo, unit.Props{"src_status": spec.Was})
}

// check refuses what no cluster can have.
func (spec Spec) check() error {
	if uuid.Validate(spec.ID) != nil {
		return apierror.BadRequest("cluster id %q is not a UUID", spec.ID)
	}
	if spec.Masters < 1 {
		return apierror.BadRequest("cluster %s needs at least one control-plane host", spec.Name)
	}
	if err := validations.CheckIgnored(spec.IgnoredHostValidations, spec.IgnoredClusterValidations); err != nil {
		return apierror.BadRequest("ignored validations: %v", err)
	}
	return spec.checkManifests()
}

// announce tells of a new record, and of one that was made anew.
func (spec Spec) announce(w *settle.Work, c *store.Cluster) error {
	if recovered(w, c, spec.Was) {
		c.HostsAwaited = spec.Arrived && (c.API.Status == wire.ClusterStatusError || c.API.Status == wire.ClusterStatusCancelled)
		return w.ClusterEvent(c, "cluster_recovered", wire.EventSeverityWarning, "the record was made anew: "+c.API.StatusInfo, unit.Props{"src_status": spec.Was})
	}
	return registered(w, c)
}

// bring has the cluster be what is wanted, as far as it can change, and returns the
// members that it has otherwise.
func (spec Spec) bring(w *settle.Work, made vault.Vault, c *store.Cluster, fresh bool) (late []string, err error) {
	if !fresh && slices.Contains(takesMore, c.API.Status) { // each host that is approved joins, however many there are to be
		spec.Masters, spec.Arbiters, spec.Workers = c.Masters, c.Arbiters, c.Workers
	}
	want := *c
	spec.apply(&want)
	if err := made.KeepPullSecret(&want, spec.PullSecret); err != nil {
		return nil, err
	}
	brought := spec.PullSecret
	if !fresh && want.PullSecret == c.PullSecret {
		brought = "" // what was taken once is no reason to refuse other changes
	}
	if spec.Release == nil && want.API.OcpReleaseImage == c.API.OcpReleaseImage {
		want.Release = c.Release
	}
	if err := spec.addresses(&want, c); err != nil {
		return nil, err
	}
	if want.Given, err = spec.filesVersion(w, c); err != nil {
		return nil, err
	}
	defaultNetworks(&want)
	unverify(&want.API, c.API)
	was := given(c, "")
	switch {
	case fresh && spec.wasBegun(): // its settings were taken once
		was = given(&want, brought)
	case fresh:
		was = nil
	}
	if err := input.CheckCluster(was, given(&want, brought)); err != nil {
		return nil, err
	}
	version := c.Given
	for _, s := range settings {
		if s.same(c, &want) {
			continue
		}
		if fresh || s.changes(c.API.Status) {
			s.take(c, &want)
		} else {
			late = append(late, s.members...)
		}
	}
	if fresh || before(c.API.Status) {
		c.API.HighAvailabilityMode = want.API.HighAvailabilityMode // it follows from the numbers of hosts
	}
	if c.Given != version {
		if err := w.PutGiven(c, spec.Files); err != nil {
			return nil, err
		}
	}
	more, err := spec.takeManifests(w, c, fresh || before(c.API.Status))
	return append(late, more...), err
}

// wasBegun tells that a hub had begun to install the cluster, whose record is lost. Without one, nobody knows its hosts,
// and its settings cannot be mended any more: they are not judged by rules that came later.
func (spec Spec) wasBegun() bool {
	_, _, begun := clustermachine.Recovered(spec.Was)
	return begun && !spec.Imported
}

// takesMore are the statuses of a cluster that hosts join.
var takesMore = []string{wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts}

// before tells that nothing was made of the cluster's settings yet.
func before(status string) bool {
	return slices.Contains(clustermachine.Open, status) && status != wire.ClusterStatusAddingHosts
}

// apply sets everything but what the hub finds out by itself, and the pull secret, which is sealed.
func (spec Spec) apply(c *store.Cluster) {
	c.Masters, c.Arbiters, c.Workers = spec.Masters, spec.Arbiters, spec.Workers
	c.Source, c.Kubernetes, c.Release = spec.Source, spec.Kubernetes, spec.Release
	c.API.Name, c.API.BaseDNSDomain, c.API.SSHPublicKey = spec.Name, spec.BaseDomain, spec.SSHKey
	c.API.OpenshiftVersion, c.API.OcpReleaseImage = spec.Version, spec.ReleaseImage
	c.API.ControlPlaneCount = int64(spec.Masters)
	mode := wire.ClusterHighAvailabilityModeFull
	if evaluate.SingleNode(c) {
		mode = wire.ClusterHighAvailabilityModeNone
	}
	c.API.HighAvailabilityMode = &mode
	c.API.MachineNetworks, c.API.ServiceNetworks, c.API.ClusterNetworks = nil, nil, spec.ClusterNetworks
	for _, cidr := range spec.MachineNetworks {
		c.API.MachineNetworks = append(c.API.MachineNetworks, wire.MachineNetwork{CIDR: wire.Subnet(cidr)})
	}
	for _, cidr := range spec.ServiceNetworks {
		c.API.ServiceNetworks = append(c.API.ServiceNetworks, wire.ServiceNetwork{CIDR: wire.Subnet(cidr)})
	}
	c.API.NetworkType, c.API.UserManagedNetworking = orNil(spec.NetworkType), spec.UserManagedNetworking
	c.API.HTTPProxy, c.API.HTTPSProxy, c.API.NoProxy = spec.HTTPProxy, spec.HTTPSProxy, spec.NoProxy
	c.API.NTPSources, c.API.Tags = spec.NTPSources, spec.Tags
	c.API.DiskEncryption, c.API.IgnitionEndpoint = spec.DiskEncryption, spec.IgnitionEndpoint
	c.API.Platform, c.API.LoadBalancer = spec.Platform, spec.LoadBalancer
	c.API.SchedulableMasters, c.API.Imported = nil, nil
	if spec.SchedulableMasters {
		c.API.SchedulableMasters = new(true)
	}
	if spec.Imported {
		c.API.Imported = new(true)
	}
	c.API.Hyperthreading = cmp.Or(spec.Hyperthreading, wire.ClusterHyperthreadingAll)
	c.API.InstallConfigOverrides = spec.InstallConfigOverrides
	c.API.IgnoredClusterValidations, c.API.IgnoredHostValidations = idText(spec.IgnoredClusterValidations), idText(spec.IgnoredHostValidations)
}

// addresses sets the virtual ones. What the hub has found out is kept where the spec says
// nothing: addresses of a DHCP server, and the machine networks that hosts are on.
func (spec Spec) addresses(want, c *store.Cluster) error {
	var api []wire.APIVIP
	for _, ip := range spec.APIVIPs {
		api = append(api, wire.APIVIP{IP: wire.IP(ip), ClusterID: c.API.ID})
	}
	var ingress []wire.IngressVIP
	for _, ip := range spec.IngressVIPs {
		ingress = append(ingress, wire.IngressVIP{IP: wire.IP(ip), ClusterID: c.API.ID})
	}
	if err := checkLeased(want.API, api, ingress); err != nil {
		return err
	}
	if !asksDHCP(c.API) {
		want.API.APIVIPs, want.API.IngressVIPs = api, ingress
	}
	if len(spec.MachineNetworks) > 0 {
		return nil
	}
	for _, n := range c.API.MachineNetworks {
		if n.ClusterID == c.API.ID { // see settle.suggest
			want.API.MachineNetworks = append(want.API.MachineNetworks, n)
		}
	}
	return nil
}

func orNil(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// idText is a list of ids as the protocol has it: JSON in text.
func idText(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return unit.Text(ids)
}
