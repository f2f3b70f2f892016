package rest

import "github.com/ironflow/ironflow/hub/wire"

// A user with the role user has what it has made; all else does not exist for it.

// hidesFrom tells that the caller does not see what the owner has.
func (c caller) hidesFrom(owner string) bool { return c.owner != "" && c.owner != owner }

// ownsInfraEnv refuses a user the infra-envs of others.
func (r *request) ownsInfraEnv(id string) error {
	if r.caller.owner == "" {
		return nil
	}
	env, err := r.hub.InfraEnv(r.Context(), id)
	if err == nil && r.caller.hidesFrom(env.UserName) {
		return notFound("there is no infra-env %s", id)
	}
	return err
}

// ownsCluster refuses a user the clusters of others.
func (r *request) ownsCluster(id string) error {
	if r.caller.owner == "" {
		return nil
	}
	c, err := r.hub.Cluster(r.Context(), id, false)
	if err == nil && r.caller.hidesFrom(c.UserName) {
		return notFound("there is no cluster %s", id)
	}
	return err
}

// made notes on a new cluster who has made it.
func (r *request) made(c wire.Cluster, err error) (any, error) {
	if err != nil || r.caller.name == "" {
		return c, err
	}
	return r.hub.GiveCluster(r.Context(), c.ID, r.caller.name)
}

// madeInfraEnv does so on a new infra-env.
func (r *request) madeInfraEnv(env wire.InfraEnv, err error) (any, error) {
	if err != nil || r.caller.name == "" {
		return env, err
	}
	return r.hub.GiveInfraEnv(r.Context(), env.ID, r.caller.name)
}

// openNothing are what one who only reads may take of the files of a cluster: the others hold
// keys, passwords or a pull secret, or may do so.
var openNothing = map[string]bool{"metadata.json": true, "logs": true}

// mayTake refuses one who only reads the files that open a cluster, and an agent those that
// are not for what its host does.
func (r *request) mayTake(cluster, file string) error {
	if file != "" && !openNothing[file] { // none is refused as ever
		if err := r.changes("file " + clip(file)); err != nil {
			return err
		}
	}
	return r.needs(cluster, file)
}

// ownEvents keeps a user to the timelines of its own.
func (r *request) ownEvents(cluster, infraEnv string) error {
	if r.caller.owner == "" {
		return nil
	}
	if cluster == "" && infraEnv == "" {
		return bad("the events of which cluster or infra-env? Ask with cluster_id or infra_env_id")
	}
	if cluster != "" {
		if err := r.ownsCluster(cluster); err != nil {
			return err
		}
	}
	if infraEnv != "" {
		return r.ownsInfraEnv(infraEnv)
	}
	return nil
}
