package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// LogsProgress notes how far the collection of a host's logs is.
func (h *Hub) LogsProgress(ctx context.Context, key store.HostKey, state wire.LogsState) error {
	switch state {
	case wire.LogsStateRequested, wire.LogsStateCollecting, wire.LogsStateCompleted, wire.LogsStateTimeout:
	default:
		return badRequest("logs_state %q: want requested, collecting, completed or timeout", state)
	}
	_, err := h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		if host.API.LogsInfo == state {
			return nil
		}
		if host.API.LogsStartedAt.IsZero() {
			host.API.LogsStartedAt = w.at()
		}
		if state == wire.LogsStateCompleted && host.API.LogsCollectedAt.IsZero() {
			host.API.LogsCollectedAt = w.at()
		}
		host.API.LogsInfo = state
		w.touch(host, ChangedHost)
		return nil
	})
	return err
}

// ClusterLogsProgress notes how far the collection of the cluster's own logs is.
func (h *Hub) ClusterLogsProgress(ctx context.Context, clusterID string, state wire.LogsState) error {
	_, err := h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		c.API.LogsInfo = state
		w.touchCluster(c)
		return nil
	})
	return err
}

// StoreHostLogs keeps an archive of a host's logs in the hub's folder, in place
// of an earlier one. An archive beyond the limit is refused with 400 and leaves
// the earlier one alone.
func (h *Hub) StoreHostLogs(ctx context.Context, clusterID string, key store.HostKey, from io.Reader) error {
	host, err := h.Host(ctx, key)
	if err != nil {
		return err
	}
	if host.ClusterID == nil || *host.ClusterID != clusterID {
		return conflict("host %s does not belong to cluster %s", key.HostID, clusterID)
	}
	if err := h.storeFile(hostLogs(key), from); err != nil {
		return err
	}
	_, err = h.hostAction(ctx, key, func(w *work, host *store.Host) error {
		host.API.LogsCollectedAt, host.API.LogsInfo = w.at(), wire.LogsStateCompleted
		w.touch(host, ChangedHost)
		return w.hostEvent(host, "host_logs_uploaded", wire.EventSeverityInfo, "its logs are here", nil)
	})
	return err
}

// StoreClusterLogs keeps an archive of the cluster's own logs.
func (h *Hub) StoreClusterLogs(ctx context.Context, clusterID string, from io.Reader) error {
	if _, err := h.Cluster(ctx, clusterID, false); err != nil {
		return err
	}
	if err := h.storeFile(clusterLogs(clusterID), from); err != nil {
		return err
	}
	_, err := h.clusterAction(ctx, clusterID, func(w *work, c *store.Cluster) error {
		c.API.ControllerLogsCollectedAt, c.API.LogsInfo = w.at(), wire.LogsStateCompleted
		w.touchCluster(c)
		return w.clusterEvent(c, "cluster_logs_uploaded", wire.EventSeverityInfo, "its logs are here", nil)
	})
	return err
}

// HostLogs opens the archive of a host's logs; without one it is refused with 404.
func (h *Hub) HostLogs(key store.HostKey) (*os.File, error) { return h.openLogs(hostLogs(key)) }

// ClusterLogs opens the archive of the cluster's own logs; without one it is refused with 404.
func (h *Hub) ClusterLogs(clusterID string) (*os.File, error) {
	return h.openLogs(clusterLogs(clusterID))
}

func (h *Hub) openLogs(name string) (*os.File, error) {
	f, err := h.files.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(404, "no logs were collected")
	}
	return f, err
}

func hostLogs(key store.HostKey) string {
	return path.Join("logs", "hosts", path.Base(key.InfraEnvID), path.Base(key.HostID)+".tar.gz")
}

func clusterLogs(id string) string { return path.Join("logs", "clusters", path.Base(id)+".tar.gz") }

// removeFile removes a file; a missing one is no error.
func (h *Hub) removeFile(name string) error {
	if err := h.files.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// storeFile writes a file as a whole: readers see the old one or the new one.
func (h *Hub) storeFile(name string, from io.Reader) (err error) {
	if err := h.files.MkdirAll(path.Dir(name), 0o700); err != nil {
		return fmt.Errorf("folder for logs: %w", err)
	}
	temporary := name + "." + uuid.NewString()[:8] + ".part"
	f, err := h.files.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("store logs: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.files.Remove(temporary))
		}
	}()
	n, err := io.Copy(f, io.LimitReader(from, h.maxLog+1))
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("store logs: %w", err)
	}
	if n > h.maxLog {
		return badRequest("the archive is larger than %d bytes; leave old journals out", h.maxLog)
	}
	return h.files.Rename(temporary, name)
}
