package settle

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
)

// resealPage is of how many clusters or infra-envs the records are read at once.
const resealPage = 100

// Reseal seals anew what an earlier key has sealed, so that the earlier key can go, and
// what an earlier version kept in plain: one cluster or infra-env at a time. What cannot
// be opened is left as it is, and said.
func (u *Units) Reseal(ctx context.Context) error {
	plain, err := u.resealClusters(ctx)
	more, envErr := u.resealInfraEnvs(ctx)
	hosts, hostErr := u.resealHosts(ctx)
	if plain || more || hosts {
		hostErr = errors.Join(hostErr, u.Store.Scrub(ctx))
	}
	return errors.Join(err, envErr, hostErr)
}

// resealClusters tells whether there was one whose secrets were plain.
func (u *Units) resealClusters(ctx context.Context) (plain bool, _ error) {
	var problems []error
	filter := store.ClusterFilter{Limit: resealPage}
	for {
		var found []*store.Cluster
		err := u.Store.View(ctx, func(r *store.Reader) (err error) {
			found, err = r.Clusters(filter)
			return err
		})
		if err != nil {
			return plain, errors.Join(append(problems, err)...)
		}
		for _, c := range found {
			filter.After, plain = c.API.ID, plain || c.PullSecret.Plain()
			var lost error
			err := u.Update(ctx, func(w *Work) (err error) {
				var wasPlain bool
				wasPlain, lost, err = w.reseal(c.API.ID)
				plain = plain || wasPlain
				return err
			})
			if err = errors.Join(err, lost); err != nil && !apierror.IsNotFound(err) {
				problems = append(problems, fmt.Errorf("cluster %s: %w", c.API.Name, err))
			}
		}
		if len(found) < resealPage || ctx.Err() != nil {
			return plain, errors.Join(problems...)
		}
	}
}

// reseal tells whether there was a manifest that was plain, and what could not be opened: that keeps nothing else of
// the cluster from the present key.
func (w *Work) reseal(clusterID string) (plain bool, lost, _ error) {
	c, err := w.Cluster(clusterID)
	if err != nil {
		return false, nil, err
	}
	renewed, secretErr := w.units.Made().RenewPullSecret(c)
	again, filesErr := w.units.Made().Reseal(w.Reader, clusterID)
	more, plain, manifestsErr := w.units.Made().ResealManifests(w.Reader, clusterID)
	again = append(again, more...)
	for _, f := range again {
		w.PutFile(f)
	}
	stale, member := c.Kept.Stale()
	if renewed || stale || len(again) > 0 {
		w.TouchCluster(c) // its version vouches for its files
	}
	return plain || member, errors.Join(secretErr, filesErr, manifestsErr, c.Kept.Lost()), nil
}

// resealInfraEnvs tells whether there was one whose secret was plain.
func (u *Units) resealInfraEnvs(ctx context.Context) (plain bool, _ error) {
	var problems []error
	filter := store.InfraEnvFilter{Limit: resealPage}
	for {
		var found []*store.InfraEnv
		err := u.Store.View(ctx, func(r *store.Reader) (err error) {
			found, err = r.InfraEnvs(filter)
			return err
		})
		if err != nil {
			return plain, errors.Join(append(problems, err)...)
		}
		for _, e := range found {
			stale, member := e.Kept.Stale()
			filter.After, plain = e.API.ID, plain || member || e.PullSecret.Plain()
			if err := e.Kept.Lost(); err != nil {
				problems = append(problems, fmt.Errorf("infra-env %s: %w", e.API.Name, err))
			}
			if !stale && u.Keys.Fresh(e.PullSecret) {
				continue
			}
			err := u.Update(ctx, func(w *Work) error { return w.resealInfraEnv(e.API.ID) })
			if err != nil && !apierror.IsNotFound(err) {
				problems = append(problems, fmt.Errorf("infra-env %s: %w", e.API.Name, err))
			}
		}
		if len(found) < resealPage || ctx.Err() != nil {
			return plain, errors.Join(problems...)
		}
	}
}

// resealHosts tells whether there was one with members that were plain.
func (u *Units) resealHosts(ctx context.Context) (plain bool, _ error) {
	var problems []error
	filter := store.HostFilter{Limit: resealPage}
	for {
		var found []*store.Host
		err := u.Store.View(ctx, func(r *store.Reader) (err error) {
			found, err = r.Hosts(filter)
			return err
		})
		if err != nil {
			return plain, errors.Join(append(problems, err)...)
		}
		for _, h := range found {
			stale, member := h.Kept.Stale()
			filter.After, plain = h.Key(), plain || member
			err := h.Kept.Lost()
			if stale {
				err = errors.Join(err, u.Update(ctx, func(w *Work) error { return w.resealHost(h.Key()) }))
			}
			if err != nil && !apierror.IsNotFound(err) {
				problems = append(problems, fmt.Errorf("host %s: %w", h.API.ID, err))
			}
		}
		if len(found) < resealPage || ctx.Err() != nil {
			return plain, errors.Join(problems...)
		}
	}
}

func (w *Work) resealHost(key store.HostKey) error {
	host, err := w.Host(key)
	if err != nil {
		return err
	}
	if stale, _ := host.Kept.Stale(); stale {
		w.Touch(host, store.ChangedHost)
	}
	return nil
}

func (w *Work) resealInfraEnv(id string) error {
	env, err := w.Env(id)
	if err != nil {
		return err
	}
	done, err := w.units.Made().RenewInfraEnvPullSecret(env)
	if stale, _ := env.Kept.Stale(); done || stale {
		w.PutEnv(env)
	}
	return err
}
