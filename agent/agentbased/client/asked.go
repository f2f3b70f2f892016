package client

import (
	"github.com/ironflow/ironflow/agent/agentbased/manifests"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/hub/wire"
)

// Asked is what the client asks of a hub for a set of manifests.
type Asked struct {
	// Cluster is nil where hosts join one that runs. Overrides are those of its install-config.
	Cluster   *wire.ClusterCreateParams
	Overrides string
	InfraEnv  *wire.InfraEnvCreateParams
}

// AskedBy is what the client would ask for, without asking anybody: the release is what the tag
// of its image tells. Parts that the set has not are left out.
func AskedBy(set *manifests.Set) (Asked, error) {
	var r release
	if set.ClusterImageSet != nil {
		r.image = set.ClusterImageSet.Spec.ReleaseImage
		if ref, err := parse(r.image); err == nil {
			r.version, r.architecture, _ = ref.release()
		}
	}
	var out Asked
	if set.ClusterDeployment != nil && set.AgentClusterInstall != nil {
		params, err := clusterParams(set, r)
		if err != nil {
			return out, err
		}
		out.Cluster, out.Overrides = &params, set.AgentClusterInstall.Metadata.Annotations[names.InstallConfigOverrides]
	}
	if set.InfraEnv != nil {
		params, err := infraEnvParams(set, "full-iso", "", r)
		if err != nil {
			return out, err
		}
		out.InfraEnv = &params
	}
	return out, nil
}
