package rest

import (
	"cmp"
	"encoding/json"

	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/support"
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
	return map[string]wire.SupportLevels{"features": support.Features(query)}, err
}

// detailedFeatures is the list of features and the list of operators.
type detailedFeatures struct {
	Features  []wire.Feature  `json:"features"`
	Operators []wire.Operator `json:"operators"`
}

func supportedFeaturesInDetail(r *request) (any, error) {
	query, err := supportQuery(r)
	return detailedFeatures{support.Detailed(query), support.Operators()}, err
}

// supportedOperators is empty: this hub installs no operators; package validations
// says so of each.
func supportedOperators(*request) (any, error) { return []string{}, nil }

func operatorProperties(r *request) (any, error) {
	return nil, notFound("operator %s is not installed by this hub", clip(r.PathValue("operator_name")))
}

// bundles has as many as there are operators.
func bundles(r *request) (any, error) {
	q := r.URL.Query()
	query := support.Query{
		Version: cmp.Or(q.Get("openshift_version"), "4.0"), Architecture: q.Get("cpu_architecture"),
		Platform: wire.PlatformType(q.Get("platform_type")), ExternalName: q.Get("external_platform_name"),
	}
	if err := query.Check(); err != nil {
		return nil, bad("%v", err)
	}
	return []wire.Bundle{}, nil
}

func bundle(r *request) (any, error) {
	return nil, notFound("bundle %s is not offered: this hub installs no operators", clip(r.PathValue("id")))
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
