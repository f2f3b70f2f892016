package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/service"
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
	"v2TriggerEvent":                    true, // of signing requests alone
}

// checkProgram looks at the token of a program inside a cluster.
func (a Auth) checkProgram(r *http.Request, op protocol.Operation, tokens checker) (caller, *wire.InfraError, error) {
	claims, err := a.Key.CheckCluster(r.Header.Get(wire.HeaderAgentToken))
	if err != nil {
		return caller{}, unauthorized("the cluster's token is not valid for this hub; its key has been changed: give ironflow-cluster a token of the present one"), nil //nolint:nilerr // the answer says it
	}
	current, err := isCurrent(r.Context(), tokens, claims)
	switch {
	case err != nil:
		return caller{}, nil, err
	case !current:
		return caller{}, unauthorized("the cluster's token is revoked: give ironflow-cluster a token of the present generation"), nil
	case !ofPrograms[op.ID]:
		return caller{}, unauthorized("a cluster's token does not open this operation"), nil
	}
	return caller{clusterID: claims.ClusterID}, nil, nil
}

// isCurrent tells that the cluster's token was not revoked. One of a cluster without a record opens nothing that
// there is; whether the record comes back is told by whoever asks for it.
func isCurrent(ctx context.Context, tokens checker, claims auth.ClusterClaims) (bool, error) {
	generation, err := tokens.TokenGeneration(ctx, claims.ClusterID)
	switch {
	case service.IsNotFound(err):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w: check the cluster's token: %w", service.ErrUnavailable, err)
	}
	return claims.Generation == generation, nil
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

// tellsOfSigning tells of an event by which the program inside a cluster speaks of a signing request.
func tellsOfSigning(e wire.Event) bool {
	return e.Name == wire.EventSigningApproved || e.Name == wire.EventSigningFailed
}

// signing takes what the program inside a cluster tells of the signing requests of its hosts. It has no other
// events to tell: what it says of anything else would stand on the timeline as if the hub had said it.
func (r *request) signing(e wire.Event) error {
	own := r.caller.clusterID
	switch {
	case !tellsOfSigning(e):
		return &service.Error{Code: http.StatusForbidden, Reason: fmt.Sprintf("a cluster's token opens the events %s and %s only", wire.EventSigningApproved, wire.EventSigningFailed)}
	case own != "" && e.ClusterID != nil && !strings.EqualFold(*e.ClusterID, own):
		return notFound("there is no cluster %s", clip(*e.ClusterID))
	case e.HostID == nil || e.InfraEnvID == nil:
		return bad("infra_env_id and host_id are required for the event %s", e.Name)
	}
	key := store.HostKey{InfraEnvID: strings.ToLower(*e.InfraEnvID), HostID: strings.ToLower(*e.HostID)}
	if err := r.ofOwnCluster(key); err != nil {
		return err
	}
	if err := r.spend(key); err != nil {
		return err
	}
	return r.hub.NoteSigning(r.Context(), key, e)
}
