package settle

import (
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
)

// Given are the files that the cluster's objects hand to the source files.
func (w *Work) Given(c *store.Cluster) ([]sources.File, error) {
	if c.Given == 0 {
		return nil, nil
	}
	return w.units.Made().Given(w.Reader, c.API.ID)
}

// PutGiven keeps those files, sealed, in the place of earlier ones. The cluster has to be
// touched as well.
func (w *Work) PutGiven(c *store.Cluster, files []sources.File) error {
	sealed, err := w.units.Made().PutGiven(c.API.ID, files)
	if err != nil {
		return err
	}
	w.PutFile(sealed)
	return nil
}
