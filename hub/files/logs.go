package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// LogsProgress notes how far the collection of a host's logs is.
func (d *Folder) LogsProgress(ctx context.Context, key store.HostKey, state wire.LogsState) error {
	switch state {
	case wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted, wire.LogsStateTimeout:
	default:
		return refusal.BadRequest("logs_state %q: want requested, collecting, completed or timeout", state)
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
	_, err := d.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		c.API.LogsInfo = state
		w.TouchCluster(c)
		return nil
	})
	return err
}

// StoreHostLogs keeps an archive of a host's logs in the hub's folder, in place
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
		return refusal.Conflict("host %s does not belong to cluster %s", key.HostID, clusterID)
	}
	if err := d.storeFile(hostLogs(key), from); err != nil {
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
	if err := d.storeFile(clusterLogs(clusterID), from); err != nil {
		return err
	}
	_, err := d.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		c.API.ControllerLogsCollectedAt, c.API.LogsInfo = w.At(), wire.LogsStateCompleted
		w.TouchCluster(c)
		return w.ClusterEvent(c, "cluster_logs_uploaded", wire.EventSeverityInfo, "its logs are here", nil)
	})
	return err
}

// HostLogs opens the archive of a host's logs; without one it is refused with 404.
func (d *Folder) HostLogs(key store.HostKey) (*os.File, error) { return d.openLogs(hostLogs(key)) }

// ClusterLogs opens the archive of the cluster's own logs; without one it is refused with 404.
func (d *Folder) ClusterLogs(clusterID string) (*os.File, error) {
	return d.openLogs(clusterLogs(clusterID))
}

func (d *Folder) openLogs(name string) (*os.File, error) {
	f, err := d.root.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusal.New(404, "no logs were collected")
	}
	return f, err
}

func hostLogs(key store.HostKey) string {
	return path.Join("logs", "hosts", path.Base(key.InfraEnvID), path.Base(key.HostID)+".tar.gz")
}

func clusterLogs(id string) string { return path.Join("logs", "clusters", path.Base(id)+".tar.gz") }

// RemoveHostLogs removes the archive of a host's logs; a missing one is no error.
func (d *Folder) RemoveHostLogs(key store.HostKey) error {
	if err := d.root.Remove(hostLogs(key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// storeFile writes a file as a whole: readers see the old one or the new one.
func (d *Folder) storeFile(name string, from io.Reader) (err error) {
	if err := d.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("folder for logs: %w", err)
	}
	temporary := name + "." + uuid.NewString()[:8] + ".part"
	f, err := d.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("store logs: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.root.Remove(temporary))
		}
	}()
	n, err := io.Copy(f, io.LimitReader(from, d.maxLog+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store logs: %w", err)
	}
	if n > d.maxLog {
		return refusal.BadRequest("the archive is larger than %d bytes; leave old journals out", d.maxLog)
	}
	return d.root.Rename(temporary, name)
}
