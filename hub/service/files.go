package service

import (
	"context"
	"errors"
	"regexp"
	"slices"

	"github.com/ironflow/ironflow/hub/ignition"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

var argValueForm = regexp.MustCompile(`^[A-Za-z0-9@!#$%*()_+-=//.,";':{}\[\]]+$`)

// File is a file that a client downloads.
type File struct {
	Name    string
	Content []byte
}

// ignitionReady are the cluster statuses in which a host may fetch its Ignition.
var ignitionReady = []string{
	wire.ClusterStatusPreparingForInstallation, wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing,
	wire.ClusterStatusInstallingPendingUserAction, wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts, wire.ClusterStatusError,
}

// HostIgnition returns what the host's installed system starts with.
func (h *Hub) HostIgnition(ctx context.Context, key store.HostKey) (File, error) {
	var out File
	err := h.view(ctx, func(r *store.Reader) error {
		w := newWork(ctx, h, r)
		host, err := w.host(key)
		if err != nil {
			return err
		}
		c, err := w.clusterOf(host)
		switch {
		case err != nil:
			return err
		case c == nil:
			return refuse(404, "host %s belongs to no cluster and has no Ignition", HostName(host))
		case !slices.Contains(ignitionReady, c.API.Status):
			return conflict("cluster %s is %s; its hosts have no Ignition yet", c.API.Name, c.API.Status)
		}
		raw, err := w.renderIgnition(host, c)
		out = File{Name: string(host.API.Role) + "-" + host.API.ID + ".ign", Content: raw}
		return err
	})
	return out, err
}

// clusterFiles are the files of a cluster that its Ignition source may have.
var clusterFiles = []string{"bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "metadata.json", "install-config.yaml"}

// ClusterFile returns a file that the cluster's Ignition source made.
func (h *Hub) ClusterFile(ctx context.Context, clusterID, name string) (File, error) {
	if !slices.Contains(clusterFiles, name) {
		return File{}, badRequest("file_name %q: want one of %v", name, clusterFiles)
	}
	c, err := h.Cluster(ctx, clusterID, false)
	if err != nil {
		return File{}, err
	}
	if !slices.Contains(ignitionReady, c.Status) {
		return File{}, conflict("cluster %s is %s; its files are not made yet", c.Name, c.Status)
	}
	raw, err := h.ignition.Role(ctx, clusterID, name)
	if errors.Is(err, ignition.ErrNone) {
		return File{}, conflict("cluster %s has no file %s", c.Name, name)
	}
	return File{Name: name, Content: raw}, err
}
