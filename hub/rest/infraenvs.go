package rest

import "github.com/ironflow/ironflow/hub/wire"

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
	return r.madeInfraEnv(r.hub.CreateInfraEnv(r.Context(), p))
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
