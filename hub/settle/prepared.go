package settle

import (
	"context"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/jobs"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// prepareJob is the job that makes the Ignition of a cluster's hosts. Its subject is the
// cluster.
const prepareJob = "prepare"

// Jobs are the slow work that units want.
func (u *Units) Jobs() map[string]jobs.Kind {
	return map[string]jobs.Kind{
		prepareJob: {Do: u.makeCluster, End: u.prepared},
		joinJob:    {Do: u.makeJoining, End: u.joined},
	}
}

// preparation is the outcome of making a cluster's files; what was made is nil for a failure.
type preparation struct {
	wire.LastInstallationPreparation
	made *proven
}

// failed is the outcome of a preparation that failed.
func failed(why string) preparation {
	return preparation{LastInstallationPreparation: wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusFailed, Reason: why}}
}

// makeCluster makes the files of a cluster. That they cannot be made is an outcome: it is
// the person's turn, or the source's.
func (u *Units) makeCluster(ctx context.Context, j store.Job) (any, error) {
	var o *order
	err := u.View(ctx, func(w *Work) error {
		c, err := w.Cluster(j.Subject)
		if err != nil {
			return err
		}
		hosts, err := w.Work.HostsOf(j.Subject) // whom they reach is no part of the order
		if err != nil {
			return err
		}
		o, err = w.order(c, hosts)
		return err
	})
	if apierror.IsNotFound(err) {
		return failed("the cluster is gone"), nil
	}
	if err != nil {
		return nil, err
	}
	p, err := u.make(ctx, o)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return failed(err.Error()), nil
	}
	return preparation{wire.LastInstallationPreparation{Status: wire.LastInstallationPreparationStatusSuccess}, p}, nil
}

// prepared notes the outcome and keeps what was made; what follows from it is the cluster
// machine's.
func (u *Units) prepared(ctx context.Context, j store.Job, outcome any, failure error) error {
	result, ok := outcome.(preparation)
	if failure != nil || !ok {
		result = failed("the hub could not prepare it")
	}
	if failure != nil {
		result.Reason += ": " + failure.Error()
	}
	return u.Update(ctx, func(w *Work) error {
		if mine, err := w.Ended(j); err != nil || !mine {
			return err
		}
		c, err := w.Cluster(j.Subject)
		if apierror.IsNotFound(err) {
			return nil
		}
		if err != nil || c.API.Status != wire.ClusterStatusPreparingForInstallation {
			return err
		}
		c.API.LastInstallationPreparation = result.LastInstallationPreparation
		w.TouchCluster(c)
		if result.made != nil {
			return w.keepMade(c, result.made)
		}
		return w.ClusterEvent(c, "prepare_installation_failed", wire.EventSeverityWarning, result.Reason, unit.Props{"error": result.Reason})
	})
}

// keepMade stores what was made for all of a cluster, in the place of what was there, and
// who tells the end of the installation that begins.
func (w *Work) keepMade(c *store.Cluster, p *proven) error {
	if err := w.dropMade(c, p.files); err != nil {
		return err
	}
	for _, f := range p.files {
		w.PutFile(f)
	}
	w.supervise(c, p)
	return nil
}

// dropMade removes what was made for a cluster, but for some files.
func (w *Work) dropMade(c *store.Cluster, but []store.ClusterFile) error {
	gone, err := vault.Gone(w.Reader, c.API.ID, but)
	for _, f := range gone {
		w.PutFile(f)
	}
	return err
}
