package files

import (
	"context"
	"errors"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/evaluate"
	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// Folder is the files of the hub. All methods are safe for concurrent use.
type Folder struct {
	units  *settle.Units
	store  filestore.Store
	maxLog int64
}

// New makes the files of the store. maxLog bounds one archive of logs, in bytes. What the
// units forget leaves no files.
func New(units *settle.Units, kept filestore.Store, maxLog int64) *Folder {
	d := &Folder{units: units, store: kept, maxLog: maxLog}
	units.Forgotten = d.forget
	return d
}

func (d *Folder) cluster(ctx context.Context, id string) (c *store.Cluster, err error) {
	err = d.units.View(ctx, func(w *settle.Work) (err error) {
		c, err = w.Cluster(id)
		return err
	})
	return c, err
}

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

// calledOff are the statuses of hosts that nothing is installed on any more, whatever
// their cluster does.
var calledOff = []string{
	wire.HostStatusError, wire.HostStatusCancelled, wire.HostStatusResetting, wire.HostStatusResettingPendingUserAction,
	wire.HostStatusUnbinding, wire.HostStatusUnbindingPendingUserAction, wire.HostStatusReclaiming, wire.HostStatusReclaimingRebooting,
}

// HostIgnition returns what the host's installed system starts with. An installer that
// gets it goes on to wipe the disk: an order that does not stand any more is refused.
func (d *Folder) HostIgnition(ctx context.Context, key store.HostKey) (File, error) {
	var out File
	err := d.units.View(ctx, func(w *settle.Work) error {
		host, err := w.Host(key)
		if err != nil {
			return err
		}
		c, err := w.ClusterOf(host)
		switch {
		case err != nil:
			return err
		case c == nil:
			return apierror.New(404, "host %s belongs to no cluster and has no Ignition", evaluate.HostName(host))
		case !slices.Contains(ignitionReady, c.API.Status):
			return apierror.Conflict("cluster %s is %s; its hosts have no Ignition yet", c.API.Name, c.API.Status)
		case slices.Contains(calledOff, host.API.Status):
			return apierror.Conflict("host %s is %s; nothing is installed on it", evaluate.HostName(host), host.API.Status)
		}
		out.Name = string(host.API.Role) + "-" + host.API.ID + ".ign"
		out.Content, err = d.units.Made().Host(w.Reader, c.API.ID, key)
		if errors.Is(err, vault.ErrNone) {
			return apierror.Conflict("host %s has no Ignition yet: it is made before the installation is ordered; install the host", evaluate.HostName(host))
		}
		return err
	})
	if err != nil {
		return File{}, err
	}
	return out, nil
}

// clusterFiles are the files of a cluster that its Ignition source may have.
var clusterFiles = []string{"bootstrap.ign", "master.ign", "worker.ign", "arbiter.ign", "metadata.json", "install-config.yaml", "custom_manifests.json", "custom_manifests.yaml"}

// filesReady are the cluster statuses in which its files are handed out: those of its first
// kubeconfig. A cluster that was called off keeps them until it is reset.
var filesReady = []string{
	wire.ClusterStatusInstalling, wire.ClusterStatusFinalizing, wire.ClusterStatusInstallingPendingUserAction,
	wire.ClusterStatusInstalled, wire.ClusterStatusAddingHosts, wire.ClusterStatusError, wire.ClusterStatusCancelled,
}

// ClusterFile returns a file that the cluster's Ignition source made, or what the hub
// makes of the cluster's record.
func (d *Folder) ClusterFile(ctx context.Context, clusterID, name string) (File, error) {
	if !slices.Contains(clusterFiles, name) {
		return File{}, apierror.BadRequest("file_name %q: want one of %v", name, clusterFiles)
	}
	c, err := d.cluster(ctx, clusterID)
	if err != nil {
		return File{}, err
	}
	if !slices.Contains(filesReady, c.API.Status) {
		return File{}, apierror.Conflict("cluster %s is %s; its files are not made yet", c.API.Name, c.API.Status)
	}
	var raw []byte
	err = d.units.View(ctx, func(w *settle.Work) (err error) {
		raw, err = d.units.Made().Download(w.Reader, clusterID, name)
		return err
	})
	if errors.Is(err, vault.ErrNone) {
		var ok bool
		if raw, ok, err = d.made(ctx, clusterID, name); err == nil && !ok {
			return File{}, apierror.Conflict("cluster %s has no file %s", c.API.Name, name)
		}
	}
	return File{Name: name, Content: raw}, err
}
