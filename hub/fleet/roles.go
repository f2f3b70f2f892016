package fleet

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/support"
	"github.com/ironflow/ironflow/hub/wire"
)

// takesRole refuses a role that the host's cluster has nobody for; one of no cluster may have any.
func takesRole(w *settle.Work, host *store.Host, role *string) error {
	if role == nil || *role != wire.HostUpdateParamsHostRoleArbiter || host.ClusterID() == "" {
		return nil
	}
	c, err := w.ClusterOf(host)
	switch {
	case apierror.IsNotFound(err) || err == nil && c == nil:
		return nil
	case err != nil:
		return err
	}
	return fitsRole(wire.HostRoleArbiter, c)
}

// fitsRole refuses an arbiter for a release that has none. What a cluster without a release makes of one is
// said by those who bring it up.
func fitsRole(role wire.HostRole, c *store.Cluster) error {
	if role != wire.HostRoleArbiter || c.API.OpenshiftVersion == "" {
		return nil
	}
	if evaluate.SingleNode(c) {
		return apierror.BadRequest("host_role arbiter: cluster %s is a single node and has none; take another role, or change control_plane_count", c.API.Name)
	}
	q := support.Query{Version: c.API.OpenshiftVersion, Architecture: c.API.CPUArchitecture}
	if c.API.Platform != nil {
		q.Platform = c.API.Platform.Type
	}
	if why := support.WhyNot(wire.FeatureSupportLevelIDTna, q); why != "" {
		return apierror.BadRequest("host_role arbiter: cluster %s cannot have one because of its %s; see TNA in support-levels/features, and take another role", c.API.Name, why)
	}
	return nil
}
