package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func checkLogsState(state wire.LogsState) error {
	if slices.Contains([]wire.LogsState{wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted, wire.LogsStateTimeout}, state) {
		return nil
	}
	return apierror.BadRequest("logs_state %.40q: want requested, collecting, completed or timeout", state)
}

// LogsProgress notes how far the collection of a host's logs is.
func (d *Folder) LogsProgress(ctx context.Context, key store.HostKey, state wire.LogsState) error {
	if err := checkLogsState(state); err != nil {
		return err
	}
	_, err := d.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		if host.API.LogsInfo == state {
			return nil
		}
		if host.API.LogsStartedAt.IsZero() {
			host.API.LogsStartedAt = w.At()
		}
		if state == wire.LogsStateCompleted && host.API.LogsCollectedAt.IsZero() {
			host.API.LogsCollectedAt = w.At()
		}
		host.API.LogsInfo = state
		w.Touch(host, store.ChangedHost)
		return nil
	})
	return err
}

// ClusterLogsProgress notes how far the collection of the cluster's own logs is.
func (d *Folder) ClusterLogsProgress(ctx context.Context, clusterID string, state wire.LogsState) error {
	if err := checkLogsState(state); err != nil {
		return err
	}
	_, err := d.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if c.API.LogsInfo == state {
			return nil
		}
		if c.API.ControllerLogsStartedAt.IsZero() {
			c.API.ControllerLogsStartedAt = w.At()
		}
		c.API.LogsInfo = state
		w.TouchCluster(c)
		return nil
	})
	return err
}

// StoreHostLogs keeps an archive of a host's logs in the file store, in place
// of an earlier one. An archive beyond the limit is refused with 400 and leaves
// the earlier one alone.
func (d *Folder) StoreHostLogs(ctx context.Context, clusterID string, key store.HostKey, from io.Reader) error {
	var of string
	err := d.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err == nil {
			of = host.ClusterID()
		}
		return err
	})
	if err != nil {
		return err
	}
	if of == "" || of != clusterID {
		return apierror.Conflict("host %s does not belong to cluster %s", key.HostID, clusterID)
	}
	if err := d.storeFile(ctx, hostLogs(key), from); err != nil {
		return err
	}
	_, err = d.units.Host(ctx, key, func(w *settle.Work, host *store.Host) error {
		host.API.LogsCollectedAt, host.API.LogsInfo = w.At(), wire.LogsStateCompleted
		w.Touch(host, store.ChangedHost)
		return w.HostEvent(host, "host_logs_uploaded", wire.EventSeverityInfo, "its logs are here", nil)
	})
	return err
}

// StoreClusterLogs keeps an archive of the cluster's own logs.
func (d *Folder) StoreClusterLogs(ctx context.Context, clusterID string, from io.Reader) error {
	if _, err := d.cluster(ctx, clusterID); err != nil {
		return err
	}
	if err := d.storeFile(ctx, clusterLogs(clusterID), from); err != nil {
		return err
	}
	_, err := d.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		c.API.ControllerLogsCollectedAt, c.API.LogsInfo = w.At(), wire.LogsStateCompleted
		w.TouchCluster(c)
		return w.ClusterEvent(c, "cluster_logs_uploaded", wire.EventSeverityInfo, "its logs are here", nil)
	})
	return err
}

// Archive is logs that a client downloads. It has to be closed.
type Archive struct {
	io.ReadSeekCloser
	// Modified is when they were stored.
	Modified time.Time
}

// HostLogs opens the archive of a host's logs; without one it is refused with 404.
func (d *Folder) HostLogs(ctx context.Context, key store.HostKey) (*Archive, error) {
	return d.openLogs(ctx, hostLogs(key))
}

// ClusterLogs opens the archive of the cluster's own logs; without one it is refused with 404.
func (d *Folder) ClusterLogs(ctx context.Context, clusterID string) (*Archive, error) {
	return d.openLogs(ctx, clusterLogs(clusterID))
}

func (d *Folder) openLogs(ctx context.Context, name string) (*Archive, error) {
	f, info, err := d.store.Open(ctx, name)
	if err != nil {
		return nil, refused(err)
	}
	return &Archive{ReadSeekCloser: f, Modified: info.Modified}, nil
}

// refused says what an error of the file store means for the caller.
func refused(err error) error {
	large, tooLarge := errors.AsType[*filestore.TooLargeError](err)
	switch {
	case tooLarge:
		return apierror.BadRequest("the archive is larger than %d bytes; leave old journals out", large.Limit)
	case errors.Is(err, fs.ErrNotExist):
		return apierror.NotFound("no logs were collected")
	case errors.Is(err, filestore.ErrUnavailable):
		return fmt.Errorf("%w: %w", apierror.ErrUnavailable, err)
	}
	return err
}

func hostLogs(key store.HostKey) string {
	return path.Join("logs", "hosts", path.Base(key.InfraEnvID), path.Base(key.HostID)+".tar.gz")
}

func clusterLogs(id string) string { return path.Join("logs", "clusters", path.Base(id)+".tar.gz") }

// forget removes the logs of a host or a cluster that is gone, whoever asked for that;
// the file store has deadlines of its own.
func (d *Folder) forget(r store.Ref) error {
	switch r.Kind {
	case store.KindHost:
		return d.store.Remove(context.Background(), hostLogs(store.HostKey{InfraEnvID: r.InfraEnvID, HostID: r.ID}))
	case store.KindCluster:
		return d.store.Remove(context.Background(), clusterLogs(r.ID))
	case store.KindInfraEnv, store.KindJob, store.KindLease: // leave nothing
	}
	return nil
}

// storeFile keeps a file as a whole: readers see the old one or the new one.
func (d *Folder) storeFile(ctx context.Context, name string, from io.Reader) error {
	if _, err := d.store.Put(ctx, name, from, d.maxLog); err != nil {
		return refused(err)
	}
	return nil
}
