package settle

import (
	"context"
	"errors"
	"maps"

	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
)

// RenewCredentials makes the cluster's credentials anew that have ended or soon will, where
// its source can, and keeps them: all who ask get the same ones.
func (u *Units) RenewCredentials(ctx context.Context, clusterID string) error {
	due := false
	err := u.View(ctx, func(w *Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		_, fresh, err := w.renewed(c)
		due = len(fresh) > 0
		return err
	})
	if err != nil || !due {
		return err
	}
	return u.Update(ctx, func(w *Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		kept, fresh, err := w.renewed(c)
		if err != nil || len(fresh) == 0 {
			return err
		}
		all := maps.Clone(kept.Made.Credentials)
		maps.Copy(all, fresh)
		kept.Made.Credentials = all
		sealed, err := w.units.Made().Rest(clusterID, kept)
		if err != nil {
			return err
		}
		w.PutFile(sealed)
		w.TouchCluster(c) // its version vouches for its files
		return nil
	})
}

// renewed is what was made for the cluster, and what of it is to be made anew.
func (w *Work) renewed(c *store.Cluster) (vault.Keep, map[string][]byte, error) {
	kept, err := w.units.Made().Kept(w.Reader, c.API.ID)
	if errors.Is(err, vault.ErrNone) {
		return kept, nil, nil
	}
	if err != nil {
		return kept, nil, err
	}
	source, ok := w.units.Sources.All[kept.Source].(sources.Renewer)
	if !ok {
		return kept, nil, nil
	}
	fresh, err := source.Renew(c.API.Name, &kept.Made, w.Now)
	return kept, fresh, err
}
