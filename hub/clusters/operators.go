package clusters

import (
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// OfferedOperators are the operators that clusters of this hub can get beside their release.
func (r *Registry) OfferedOperators() operators.Table { return r.units.Offered() }

// chooseOperators has the cluster get the operators that are asked for by name, or with a
// bundle; nil leaves what was asked for before, and an empty list takes it back. What
// cannot be installed into this cluster is refused.
func (r *Registry) chooseOperators(c *store.Cluster, named []wire.OperatorCreateParams, bundles []wire.BundleCreateParams) error {
	asked := operators.Asked{Operators: named, Bundles: bundles}
	switch {
	case named == nil && bundles == nil:
		return nil
	case c.API.Kind != wire.ClusterKindCluster && asked.Nothing():
		return nil
	case c.API.Kind != wire.ClusterKindCluster:
		return refuseOperators(asked, "operators are installed with the cluster, and this one runs already; install them in the cluster itself")
	}
	if named != nil {
		c.Operators = onceEach(named, func(o wire.OperatorCreateParams) string { return o.Name })
	}
	if bundles != nil {
		c.API.OperatorBundles = onceEach(bundles, func(b wire.BundleCreateParams) string { return b.ID })
	}
	if asked = evaluate.AskedOf(c); asked.Nothing() {
		return nil
	}
	if why := r.cannotGetOperators(c); why != "" {
		return refuseOperators(asked, why)
	}
	if err := r.units.Rules.Operators.Refuse(asked, target(c)); err != nil {
		return apierror.BadRequest("%v", err)
	}
	return nil
}

// cannotGetOperators says why no operator can be installed into the cluster; empty when some can.
func (r *Registry) cannotGetOperators(c *store.Cluster) string {
	from := r.units.Sources.Name(c.Source)
	switch _, has := r.units.Sources.All[sources.OpenShiftInstall]; {
	case !sources.HasRelease(&c.API):
		return "operators are installed into OpenShift, and the cluster has no release; set openshift_version, or add manifests that install them"
	case !has:
		return "operators are installed by the Ignition source openshift-install, and this hub is not set up for it; leave them out, or add manifests that subscribe to them"
	case from != sources.OpenShiftInstall:
		return "operators are installed by the Ignition source openshift-install, and the cluster's is " + string(from) + "; set ignition_source, or add manifests that subscribe to them"
	}
	return ""
}

// onceEach leaves out what a list has a second time.
func onceEach[T any](list []T, name func(T) string) []T {
	seen := map[string]bool{}
	out := make([]T, 0, min(len(list), 64))
	for _, one := range list {
		if !seen[name(one)] {
			out = append(out, one)
		}
		seen[name(one)] = true
	}
	return out
}

// refuseOperators names all that was asked for.
func refuseOperators(asked operators.Asked, why string) error {
	var names []string
	for _, o := range asked.Operators {
		names = append(names, clippedName(o.Name))
	}
	for _, b := range asked.Bundles {
		names = append(names, "bundle "+clippedName(b.ID))
	}
	const most = 10
	if len(names) > most {
		names = append(names[:most], "...")
	}
	return apierror.BadRequest("olm_operators, operator_bundles: %s: %s", strings.Join(names, ", "), why)
}

func clippedName(name string) string {
	const most = 80
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

// target is what operators are to be installed into.
func target(c *store.Cluster) operators.Target {
	settings := validations.Read(&c.API, validations.Wanted{Masters: c.Masters, Arbiters: c.Arbiters, Workers: c.Workers})
	return operators.Target{
		Version: c.API.OpenshiftVersion, Architecture: c.API.CPUArchitecture, Platform: settings.Platform(), SingleNode: evaluate.SingleNode(c),
	}
}
