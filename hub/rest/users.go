package rest

import (
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func createInfraEnv(r *request) (any, error) {
	var p wire.InfraEnvCreateParams
	if err := r.body(&p); err != nil {
		return nil, err
	}
	if id := wire.Value(p.ClusterID); id != "" {
		if err := r.ownsCluster(id); err != nil {
			return nil, err
		}
	}
	env, err := r.hub.CreateInfraEnv(r.Context(), p)
	if err != nil || r.caller.name == "" {
		return env, err
	}
	return r.hub.GiveInfraEnv(r.Context(), env.ID, r.caller.name)
}

func listInfraEnvs(r *request) (any, error) {
	cluster, err := r.optionalID("cluster_id")
	if err != nil {
		return nil, err
	}
	return r.infraEnvs(cluster), nil
}

func getInfraEnv(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	env, err := r.hub.InfraEnv(r.Context(), id)
	return r.infraEnvFor(env), err
}

func updateInfraEnv(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	var p struct {
		wire.InfraEnvUpdateParams
		// Override is told apart from none: an empty one takes away what is there.
		Override *string `json:"ignition_config_override"`
	}
	if err := r.body(&p); err != nil {
		return nil, err
	}
	if p.Override != nil && *p.Override == "" {
		return r.hub.WithoutOverride(r.Context(), id, p.InfraEnvUpdateParams)
	}
	p.IgnitionConfigOverride = wire.Value(p.Override)
	return r.hub.UpdateInfraEnv(r.Context(), id, p.InfraEnvUpdateParams)
}

func deleteInfraEnv(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	return nil, r.hub.DeleteInfraEnv(r.Context(), id)
}

// imageURL answers with an address that does not expire; it dies with the
// infra-env's tokens.
func imageURL(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	urls, err := r.hub.ImageURLs(r.Context(), id)
	return wire.PresignedURL{URL: urls.ISO}, err
}

func listHosts(r *request) (any, error) {
	id, err := r.infraEnv()
	if err != nil {
		return nil, err
	}
	return r.hosts(store.HostFilter{InfraEnvID: id}, r.seen), nil
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
