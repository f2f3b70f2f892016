package rest

import (
	"fmt"
	"net"
	"net/http"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ofHosts are the operations about a cluster that any of its hosts may call with its own
// token. The others of agents are for its bootstrap host, which installs the cluster, and
// whose token an installer of the existing kind hands on to its program inside.
var ofHosts = map[string]bool{
	"v2GetCluster":           true,
	"ListClusterHosts":       true,
	"V2DownloadClusterFiles": true,
	"V2UploadLogs":           true,
	"v2TriggerEvent":         true,
}

// speaksFor refuses an agent a host that it does not speak for, as if it did not exist.
func (r *request) speaksFor(key store.HostKey) error {
	token := r.caller.agent
	if token.InfraEnvID == "" {
		return nil
	}
	if token.HostID != "" && token.HostID != key.HostID {
		return r.asBootstrap(key)
	}
	s, err := r.hub.Speaker(r.Context(), key, token)
	switch {
	case err != nil || s.Takes:
		return err
	case s.Outlived && r.operationID == "v2GetNextSteps":
		why := "an agent of another machine has registered, and the one before goes on; switch one machine off, or give it another board serial number, and boot it again"
		if err := r.hub.Twins(r.Context(), key, why, s.TwinSeenAt); err != nil {
			return err
		}
	case token.Machine != "":
		return r.asBootstrap(key)
	}
	return noHost(key)
}

func noHost(key store.HostKey) error {
	return notFound("host %s is not registered in infra-env %s", key.HostID, key.InfraEnvID)
}

// asBootstrap lets the bootstrap host of a cluster report the stages of its other hosts.
func (r *request) asBootstrap(key store.HostKey) error {
	if !ofPrograms[r.operationID] || r.operationID == "v2TriggerEvent" {
		return noHost(key)
	}
	h, err := r.hub.Host(r.Context(), key)
	if err != nil {
		return err
	}
	own, err := r.ownHost(wire.Value(h.ClusterID))
	if err == nil && (own == nil || !own.Bootstrap) {
		return noHost(key)
	}
	return err
}

// ownHost is the host in the cluster that the agent speaks for with a token of its own;
// nil for none.
func (r *request) ownHost(cluster string) (*wire.Host, error) {
	token := r.caller.agent
	if cluster == "" || !token.Own() {
		return nil, nil
	}
	if token.HostID == "" {
		hosts, err := r.hub.Hosts(r.Context(), store.HostFilter{InfraEnvID: token.InfraEnvID, ClusterID: cluster, Machine: token.Machine, Bare: true, Limit: 1})
		if err != nil || len(hosts) == 0 {
			return nil, err
		}
		return &hosts[0], nil
	}
	key := store.HostKey{InfraEnvID: token.InfraEnvID, HostID: token.HostID}
	s, err := r.hub.Speaker(r.Context(), key, token)
	if service.IsNotFound(err) || err == nil && (!s.Takes || s.ClusterID != cluster) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	h, err := r.hub.Host(r.Context(), key)
	return &h, err
}

// reachesAsHost refuses an agent with a host's own token the clusters of others, and what
// only the bootstrap host of a cluster does.
func (r *request) reachesAsHost(cluster string) error {
	own, err := r.ownHost(cluster)
	switch {
	case err != nil:
		return err
	case own == nil:
		return notFound("there is no cluster %s", cluster)
	case !own.Bootstrap && (!ofHosts[r.operationID] || r.ofController()):
		return &service.Error{Code: http.StatusForbidden, Reason: fmt.Sprintf("host %s is not the bootstrap host of cluster %s, which alone may do this", own.ID, cluster)}
	}
	return nil
}

// ofController tells that the request is about the logs of the program inside a cluster: those of any other host would take
// their place.
func (r *request) ofController() bool {
	return r.operationID == "V2UploadLogs" && r.URL.Query().Get("logs_type") == string(wire.LogsTypeController)
}

// sharedIn reports whether a host of the cluster is one that every agent of the infra-env
// speaks for.
func (r *request) sharedIn(cluster string) (bool, error) {
	env := r.caller.infraEnvID
	hosts, err := r.hub.Hosts(r.Context(), store.HostFilter{InfraEnvID: env, ClusterID: cluster, Bare: true})
	if err != nil || r.caller.agent.InfraEnvID == "" {
		return len(hosts) > 0, err
	}
	for _, h := range hosts {
		s, err := r.hub.Speaker(r.Context(), store.HostKey{InfraEnvID: env, HostID: h.ID}, r.caller.agent)
		if err == nil && s.Takes {
			return true, nil
		}
		if err != nil && !service.IsNotFound(err) {
			return false, err
		}
	}
	return false, nil
}

// proves refuses a registration with the token of another host, or one that another
// registration has outlived: the agent takes the one that it was booted with.
func (r *request) proves(key store.HostKey) error {
	token := r.caller.agent
	if token.HostID == "" {
		return nil
	}
	if token.HostID == key.HostID {
		s, err := r.hub.Speaker(r.Context(), key, token)
		if service.IsNotFound(err) || err == nil && s.Takes {
			return nil // removed meanwhile, it comes back as what it was
		}
		if err != nil {
			return err
		}
	}
	return &service.Error{Code: http.StatusUnauthorized, Reason: "the token is that of another host, or of an earlier registration; register with the token of the image"}
}

// giveToken adds the host's own token to the answer of a registration that asks for it.
func (r *request) giveToken(key store.HostKey) error {
	token := r.caller.agent
	if token.InfraEnvID == "" || token.Machine != "" || !r.wantsToken() {
		return nil
	}
	s, err := r.hub.Speaker(r.Context(), key, token)
	if err != nil {
		return err
	}
	own, err := r.hub.HostToken(token, key.HostID, s.Bearer.Serial)
	if err != nil {
		return err
	}
	r.w.Header().Set(wire.HeaderHostToken, own)
	return nil
}

// from is the address that the call comes from.
func (r *request) from() string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

func (r *request) wantsToken() bool {
	return r.Header.Get(wire.HeaderHostToken) == wire.HostTokenWanted
}

// seen leaves an agent the hosts that it speaks for; nil for others.
func (r *request) seen(h wire.Host) any {
	if r.caller.agent.InfraEnvID == "" {
		return h
	}
	s, err := r.hub.Speaker(r.Context(), store.HostKey{InfraEnvID: h.InfraEnvID, HostID: h.ID}, r.caller.agent)
	if err != nil || !s.Takes {
		return nil
	}
	return h
}
