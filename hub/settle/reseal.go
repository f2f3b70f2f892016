package settle

import (
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/store"
)

// resealPage is of how many clusters the records are read at once.
const resealPage = 100

// Reseal seals anew what an earlier key has sealed, one cluster at a time, so that the
// earlier key can go. What cannot be opened is left as it is, and said.
func (u *Units) Reseal(ctx context.Context) error {
	var problems []error
	filter := store.ClusterFilter{Limit: resealPage}
	for {
		var found []*store.Cluster
		err := u.Store.View(ctx, func(r *store.Reader) (err error) {
			found, err = r.Clusters(filter)
			return err
		})
		if err != nil {
			return err
		}
		for _, c := range found {
			filter.After = c.API.ID
			err := u.Update(ctx, func(w *Work) error { return w.reseal(c.API.ID) })
			if err != nil && !refusal.IsNotFound(err) {
				problems = append(problems, fmt.Errorf("cluster %s: %w", c.API.Name, err))
			}
		}
		if len(found) < resealPage || ctx.Err() != nil {
			return errors.Join(problems...)
		}
	}
}

func (w *Work) reseal(clusterID string) error {
	c, err := w.Cluster(clusterID)
	if err != nil {
		return err
	}
	again, err := w.units.Made().Reseal(w.Reader, clusterID)
	if err != nil || len(again) == 0 {
		return err
	}
	for _, f := range again {
		w.PutFile(f)
	}
	w.TouchCluster(c) // its version vouches for its files
	return nil
}
