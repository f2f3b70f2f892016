package files

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/store"
)

// Bundle is all logs of a cluster: its own and those of its hosts, which are read while
// they are sent, one after the other; and what the hub knows of the cluster, see [Folder.records].
type Bundle struct {
	folder *Folder
	// files are those of the file store.
	files []bundled
	// records are what the hub has of the cluster.
	records []recorded
	at      time.Time
}

type bundled struct{ name, inBundle string }

// AllLogs finds the archives of a cluster and its hosts, and gathers the records; the
// manifests, which may have secrets, only where they are wanted.
func (d *Folder) AllLogs(ctx context.Context, clusterID string, manifests bool) (*Bundle, error) {
	records, at, err := d.records(ctx, clusterID, manifests)
	if err != nil {
		return nil, err
	}
	candidates := []bundled{{clusterLogs(clusterID), "controller.tar.gz"}}
	filter := store.HostFilter{ClusterID: clusterID, Bare: true, Limit: page}
	for {
		var found []*store.Host
		err := d.units.Store.View(ctx, func(r *store.Reader) (err error) {
			found, err = r.Hosts(filter)
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			candidates = append(candidates, bundled{hostLogs(h.Key()), "host-" + h.API.ID + ".tar.gz"})
			filter.After = h.Key()
		}
		if len(found) < page {
			break
		}
	}
	b := &Bundle{folder: d, records: records, at: at}
	for _, f := range candidates {
		switch _, err := d.store.Stat(ctx, f.name); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, refused(err)
		default:
			b.files = append(b.files, f)
		}
	}
	return b, nil
}

// page is how many hosts are read at once.
const page = 100

// Write sends the bundle as a tar archive. Logs that were removed meanwhile are left out;
// any other error leaves a part behind that does not pass for the whole.
func (b *Bundle) Write(ctx context.Context, to io.Writer) error {
	archive := tar.NewWriter(to)
	for _, f := range b.files {
		if err := b.add(ctx, archive, f); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("logs %s: %w", f.inBundle, err)
		}
	}
	for _, r := range b.records {
		if err := archive.WriteHeader(&tar.Header{Name: r.name, Mode: 0o600, Size: int64(len(r.content)), ModTime: b.at}); err != nil {
			return err
		}
		if _, err := archive.Write(r.content); err != nil {
			return err
		}
	}
	return archive.Close()
}

func (b *Bundle) add(ctx context.Context, archive *tar.Writer, f bundled) (err error) {
	var content io.ReadSeekCloser
	var info filestore.Info
	if content, info, err = b.folder.store.Open(ctx, f.name); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, content.Close()) }()
	if err := archive.WriteHeader(&tar.Header{Name: f.inBundle, Mode: 0o600, Size: info.Size, ModTime: info.Modified}); err != nil {
		return err
	}
	_, err = io.Copy(archive, content)
	return err
}
