package settle

import (
	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/store"
)

// noteDeadlines stores with each changed record when time alone may change it next.
func (w *Work) noteDeadlines() error {
	for _, h := range w.DirtyHosts() {
		c, err := w.ClusterOf(h)
		if err != nil && !apierror.IsNotFound(err) {
			return err
		}
		h.Due, h.Patience = w.HostDeadline(h, c)
	}
	for _, id := range w.DirtyClusters() {
		c, err := w.Cluster(id)
		if apierror.IsNotFound(err) {
			continue // it leaves
		}
		if err != nil {
			return err
		}
		c.Due = w.ClusterDeadline(c)
	}
	return nil
}

// Look looks at a host or a cluster again, and returns its deadline after that. What
// is not there any more has none.
func (w *Work) Look(of store.Ref) (store.Deadline, error) {
	d := store.Deadline{Of: of}
	if of.Kind == store.KindCluster {
		if _, err := w.SettleCluster(of.ID); err != nil {
			return d, err
		}
		if err := w.Settle(); err != nil {
			return d, err
		}
		c, err := w.Cluster(of.ID)
		if err != nil {
			return d, ignoreGone(err)
		}
		d.Due = w.ClusterDeadline(c)
		return d, nil
	}
	h, err := w.Host(store.HostKey{InfraEnvID: of.InfraEnvID, HostID: of.ID})
	if err != nil {
		return d, ignoreGone(err)
	}
	if _, err := w.RefreshHost(h); err != nil {
		return d, err
	}
	if err := w.Settle(); err != nil {
		return d, err
	}
	c, err := w.ClusterOf(h)
	if err != nil {
		return d, ignoreGone(err)
	}
	d.Heard = h.API.CheckedInAt.Time
	d.Due, d.Patience = w.HostDeadline(h, c)
	return d, nil
}

func ignoreGone(err error) error {
	if apierror.IsNotFound(err) {
		return nil
	}
	return err
}
