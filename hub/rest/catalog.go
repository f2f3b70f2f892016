package rest

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/support"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// catalog is what the hub offers.
func (r *request) catalog() (releases.Catalog, error) { return r.releases.Catalog() }

func openshiftVersions(r *request) (any, error) {
	latest, err := r.flag("only_latest")
	if err != nil {
		return nil, err
	}
	catalog, err := r.catalog()
	return catalog.Versions(r.URL.Query().Get("version"), latest), err
}

func releaseSources(r *request) (any, error) {
	catalog, err := r.catalog()
	if catalog.Sources == nil {
		catalog.Sources = wire.ReleaseSources{}
	}
	return catalog.Sources, err
}

// supportQuery reads what the support of is asked.
func supportQuery(r *request) (support.Query, error) {
	q := r.URL.Query()
	query := support.Query{
		Version: q.Get("openshift_version"), Architecture: q.Get("cpu_architecture"),
		Platform: wire.PlatformType(q.Get("platform_type")), ExternalName: q.Get("external_platform_name"),
	}
	if err := query.Check(); err != nil {
		return query, bad("%v", err)
	}
	return query, nil
}

func supportedArchitectures(r *request) (any, error) {
	query, err := supportQuery(r)
	return map[string]wire.SupportLevels{"architectures": support.Architectures(query.Version)}, err
}

func supportedFeatures(r *request) (any, error) {
	query, err := supportQuery(r)
	return map[string]wire.SupportLevels{"features": support.Features(query, r.hub.OfferedOperators())}, err
}

// detailedFeatures is the list of features and the list of operators.
type detailedFeatures struct {
	Features  []wire.Feature  `json:"features"`
	Operators []wire.Operator `json:"operators"`
}

func supportedFeaturesInDetail(r *request) (any, error) {
	query, err := supportQuery(r)
	offered := r.hub.OfferedOperators()
	return detailedFeatures{support.Detailed(query, offered), support.Operators(query, offered)}, err
}

// supportedOperators is empty where this hub has no source that takes their manifests.
func supportedOperators(r *request) (any, error) { return r.hub.OfferedOperators().Names(), nil }

// operatorProperties is empty for each operator that there is: the table has all there is to choose.
func operatorProperties(r *request) (any, error) {
	name := r.PathValue("operator_name")
	offered := r.hub.OfferedOperators()
	if offered.Find(name) == nil {
		return nil, notFound("operator %s %s", clip(name), notOffered(offered))
	}
	return wire.OperatorProperties{}, nil
}

func notOffered(offered operators.Table) string {
	if len(offered.Operators) == 0 {
		return "is not installed by this hub: it is not set up for the Ignition source openshift-install, which is what installs operators"
	}
	return "is not offered; see supported-operators"
}

// bundles are those of which something can be had where the client asks for.
func bundles(r *request) (any, error) {
	q := r.URL.Query()
	query := support.Query{
		Version: q.Get("openshift_version"), Architecture: q.Get("cpu_architecture"),
		Platform: wire.PlatformType(q.Get("platform_type")), ExternalName: q.Get("external_platform_name"),
	}
	checked := query
	checked.Version = cmp.Or(query.Version, "4.0")
	if err := checked.Check(); err != nil {
		return nil, bad("%v", err)
	}
	return support.Bundles(query, singleNodeAsked(r), r.hub.OfferedOperators()), nil
}

// singleNodeAsked tells that only what a single node can have is asked for.
func singleNodeAsked(r *request) bool {
	return slices.Contains(r.URL.Query()["feature_ids"], string(wire.FeatureSupportLevelIDSno))
}

func bundle(r *request) (any, error) {
	id, offered := r.PathValue("id"), r.hub.OfferedOperators()
	for _, b := range support.Bundles(support.Query{}, singleNodeAsked(r), offered) {
		if b.ID == id {
			return b, nil
		}
	}
	return nil, notFound("bundle %s %s", clip(id), notOffered(offered))
}

func supportedPlatforms(r *request) (any, error) {
	id, err := r.cluster()
	if err != nil {
		return nil, err
	}
	cluster, err := r.hub.Cluster(r.Context(), id, false)
	if err != nil {
		return nil, err
	}
	hosts, err := r.hub.Hosts(r.Context(), store.HostFilter{ClusterID: id})
	if err != nil {
		return nil, err
	}
	var machines []*wire.Inventory
	for _, h := range hosts {
		machines = append(machines, machineOf(h))
	}
	return support.Platforms(cluster.ControlPlaneCount == 1, machines), nil
}

// machineOf is the host's inventory; nil before it has told one.
func machineOf(h wire.Host) *wire.Inventory {
	inventory := &wire.Inventory{}
	if h.Inventory == "" || json.Unmarshal([]byte(h.Inventory), inventory) != nil {
		return nil
	}
	return inventory
}

func componentVersions(r *request) (any, error) {
	versions := r.hub.Components()
	versions["ironflow"], versions["assisted-installer-service"] = version.Release(), version.Release()
	return wire.ListVersions{ReleaseTag: version.Release(), Versions: versions}, nil
}

func managedDomains(*request) (any, error) { return wire.ListManagedDomains{}, nil }

// inactiveHours is the protocol's figure for clusters that nothing happens to, of which
// consoles warn. This hub removes none of them by itself.
const inactiveHours = 20 * 24

func defaultConfig(*request) (any, error) {
	v4 := []wire.ClusterNetwork{{CIDR: "10.128.0.0/14", HostPrefix: 23}}
	services := []wire.ServiceNetwork{{CIDR: "172.30.0.0/16"}}
	return wire.ClusterDefaultConfig{
		ForbiddenHostnames: slices.Clone(validations.ForbiddenNames), InactiveDeletionHours: inactiveHours,
		ClusterNetworkCIDR: "10.128.0.0/14", ClusterNetworkHostPrefix: 23, ServiceNetworkCIDR: "172.30.0.0/16",
		ClusterNetworksIpv4: v4, ClusterNetworksDualstack: append(v4, wire.ClusterNetwork{CIDR: "fd01::/48", HostPrefix: 64}),
		ServiceNetworksIpv4: services, ServiceNetworksDualstack: append(services, wire.ServiceNetwork{CIDR: "fd02::/112"}),
	}, nil
}
