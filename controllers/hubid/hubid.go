// Package hubid says which id a resource's record has in the hub: the UID of
// the resource. A hub that lost its store gives the same ids again.
package hubid

import (
	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	hivev1 "github.com/ironflow/ironflow/api/hive/v1"
	"github.com/ironflow/ironflow/hub/store"
)

// InfraEnv is the id of an InfraEnv's record.
func InfraEnv(e *agentv1.InfraEnv) string { return string(e.UID) }

// Host is the key of an Agent's record: the InfraEnv's id and the Agent's name.
func Host(e *agentv1.InfraEnv, a *agentv1.Agent) store.HostKey {
	return store.HostKey{InfraEnvID: InfraEnv(e), HostID: a.Name}
}

// Cluster is the id of a ClusterDeployment's record.
func Cluster(c *hivev1.ClusterDeployment) string { return string(c.UID) }
