package rest

import (
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func listHosts(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	// A host with a token of its own is shown itself: nobody else is read for it, as often as it asks.
	own := r.caller.agent
	return r.hosts(store.HostFilter{InfraEnvID: id, HostID: own.HostID, Machine: own.Machine}, r.seen), nil
}

func getHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return r.hub.Host(r.Context(), key)
}

func updateHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	var p wire.HostUpdateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.hub.UpdateHost(r.Context(), key, p)
}

func deleteHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return nil, r.hub.DeleteHost(r.Context(), key)
}

func bindHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	var p wire.BindHostParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	if p.ClusterID != "" { // none is refused as ever
		if err := r.ownsCluster(p.ClusterID); err != nil {
			return nil, err
		}
	}
	return r.hub.BindHost(r.Context(), key, p.ClusterID)
}

func unbindHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return r.hub.UnbindHost(r.Context(), key)
}

func installHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return r.hub.InstallHost(r.Context(), key)
}

func resetHost(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	return r.hub.ResetHost(r.Context(), key)
}

func getHostIgnition(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	h, err := r.hub.Host(r.Context(), key)
	return wire.HostIgnitionParams{Config: h.IgnitionConfigOverrides}, err
}

func setHostIgnition(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	var p wire.HostIgnitionParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return nil, r.hub.SetHostIgnition(r.Context(), key, p.Config)
}

func setInstallerArgs(r *request) (any, error) {
	key, err := r.host()
	if err != nil {
		return nil, err
	}
	var p wire.InstallerArgsParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	return r.hub.SetInstallerArgs(r.Context(), key, p.Args)
}
