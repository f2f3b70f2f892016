package clusters

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/input"
	"github.com/ironflow/ironflow/hub/operators"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// Problems are all settings that a hub would refuse of a new cluster and of the overrides of its
// install-config, as far as the settings alone tell: what the hub is set up for, and what hosts
// have, is not looked at. Operators are those of the table.
func Problems(p wire.ClusterCreateParams, overrides string, offered operators.Table) (out []error) {
	c := &store.Cluster{}
	c.API.Kind = wire.ClusterKindCluster
	masters, err := controlPlane(p.ControlPlaneCount, p.HighAvailabilityMode)
	if err != nil {
		out = append(out, err)
	}
	if err := fill(c, p, masters, nil); err != nil {
		out = append(out, err)
	}
	c.API.InstallConfigOverrides = overrides
	out = append(out, input.ClusterProblems(given(c, p.PullSecret))...)
	if err := operatorProblem(c, operators.Asked{Operators: p.OlmOperators, Bundles: p.OperatorBundles}, offered); err != nil {
		const member = "olm_operators"
		out = append(out, &apierror.Error{Code: http.StatusBadRequest, Reason: member + ": " + strings.TrimPrefix(err.Error(), member+": "), Field: member})
	}
	return out
}

// operatorProblem refuses operators; without a release, by their names alone.
func operatorProblem(c *store.Cluster, asked operators.Asked, offered operators.Table) error {
	if c.API.OpenshiftVersion != "" {
		return offered.Refuse(asked, target(c))
	}
	if _, unknown := offered.Choose(asked, false); len(unknown) > 0 {
		return fmt.Errorf("there is no operator %.80q", unknown[0])
	}
	return nil
}
