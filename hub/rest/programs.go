package rest

import (
	"net/http"

	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ofPrograms are the operations of programs inside clusters. Neither credentials nor
// Ignition are among them: who reads the program's Secret is not to become more by it.
var ofPrograms = map[string]bool{
	"v2GetCluster":                      true,
	"ListClusterHosts":                  true,
	"v2UpdateHostInstallProgress":       true,
	"v2UpdateClusterFinalizingProgress": true,
	"V2ListOfClusterOperators":          true,
	"v2ReportMonitoredOperatorStatus":   true,
	"v2UploadClusterIngressCert":        true,
	"v2CompleteInstallation":            true,
	"v2UpdateClusterLogsProgress":       true,
	"V2UploadLogs":                      true,
}

// checkProgram looks at the token of a program inside a cluster.
func (a Auth) checkProgram(r *http.Request, op protocol.Operation) (caller, *wire.InfraError) {
	id, err := a.Key.CheckCluster(r.Header.Get(wire.HeaderAgentToken))
	if err != nil {
		return caller{}, unauthorized("the cluster's token is not valid for this hub; its key has been changed: give ironflow-cluster a token of the present one")
	}
	if !ofPrograms[op.ID] {
		return caller{}, unauthorized("a cluster's token does not open this operation")
	}
	return caller{clusterID: id}, nil
}

// ofOwnCluster refuses a program inside a cluster the hosts of others, as if they did not exist.
func (r *request) ofOwnCluster(key store.HostKey) error {
	if r.caller.clusterID == "" {
		return nil
	}
	h, err := r.hub.Host(r.Context(), key)
	if err == nil && wire.Value(h.ClusterID) != r.caller.clusterID {
		return notFound("host %s is not registered in infra-env %s", key.HostID, key.InfraEnvID)
	}
	return err
}
