package clusters

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/clustermachine"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxManifests bounds the manifests of a cluster.
const maxManifests = 500

// Manifests returns the manifests that users added, by folder and name.
func (r *Registry) Manifests(ctx context.Context, clusterID string) (wire.ListManifests, error) {
	return r.manifests(ctx, clusterID, false)
}

// AllManifests returns those of [Registry.Manifests], and after them those that the hub
// itself puts into the installation.
func (r *Registry) AllManifests(ctx context.Context, clusterID string) (wire.ListManifests, error) {
	return r.manifests(ctx, clusterID, true)
}

func (r *Registry) manifests(ctx context.Context, clusterID string, own bool) (wire.ListManifests, error) {
	out := wire.ListManifests{}
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		out = append(out, c.Manifests...)
		if !own {
			return nil
		}
		system, err := w.OwnManifests(c)
		for _, m := range system {
			out = append(out, wire.Manifest{Folder: m.Folder, FileName: m.Name, ManifestSource: wire.ManifestManifestSourceSystem})
		}
		return err
	})
	return out, err
}

// Manifest returns the content of a manifest, a user's or the hub's own.
func (r *Registry) Manifest(ctx context.Context, clusterID, folder, name string) (string, error) {
	var content string
	err := r.units.View(ctx, func(w *settle.Work) error {
		c, err := w.Cluster(clusterID)
		if err != nil {
			return err
		}
		if find(c, folder, name) < 0 {
			system, err := w.OwnManifests(c)
			if err != nil {
				return err
			}
			for _, own := range system {
				if own.Folder == folder && own.Name == name {
					content = own.Content
					return nil
				}
			}
			return noManifest(c, folder, name)
		}
		content, err = w.Manifest(c, folder, name)
		return err
	})
	return content, err
}

// PutManifest adds a manifest, or replaces it. The content is in base64.
func (r *Registry) PutManifest(ctx context.Context, clusterID string, p wire.CreateManifestParams) (wire.Manifest, error) {
	m := wire.Manifest{
		Folder: cmp.Or(wire.Value(p.Folder), wire.ManifestFolderManifests), FileName: p.FileName, ManifestSource: wire.ManifestManifestSourceUser,
	}
	content, err := manifestContent(m.Folder, m.FileName, p.Content)
	if err != nil {
		return m, err
	}
	return m, r.changeManifests(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		return addManifest(w, c, m, content)
	})
}

// UpdateManifest changes a manifest's content, name and folder, as far as given.
func (r *Registry) UpdateManifest(ctx context.Context, clusterID string, p wire.UpdateManifestParams) (wire.Manifest, error) {
	folder := cmp.Or(p.Folder, wire.ManifestFolderManifests)
	m := wire.Manifest{
		Folder: cmp.Or(wire.Value(p.UpdatedFolder), folder), FileName: cmp.Or(wire.Value(p.UpdatedFileName), p.FileName),
		ManifestSource: wire.ManifestManifestSourceUser,
	}
	if err := checkManifestName(m.Folder, m.FileName); err != nil {
		return m, apierror.BadRequest("%v", err)
	}
	return m, r.changeManifests(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if find(c, folder, p.FileName) < 0 {
			return noManifest(c, folder, p.FileName)
		}
		content, err := updated(w, c, folder, m, p)
		if err != nil {
			return err
		}
		moves := m.Folder != folder || m.FileName != p.FileName
		if moves && find(c, m.Folder, m.FileName) >= 0 {
			return apierror.BadRequest("cluster %s has a manifest %s/%s already", c.API.Name, m.Folder, m.FileName)
		}
		removeManifest(w, c, folder, p.FileName)
		return addManifest(w, c, m, content)
	})
}

// updated is the content that a manifest has from now on: the one that it has had is read only
// where it stays, so that one whose key is lost can be given anew.
func updated(w *settle.Work, c *store.Cluster, folder string, m wire.Manifest, p wire.UpdateManifestParams) (string, error) {
	if p.UpdatedContent == nil {
		return w.Manifest(c, folder, p.FileName)
	}
	return manifestContent(m.Folder, m.FileName, *p.UpdatedContent)
}

// DeleteManifest removes a manifest.
func (r *Registry) DeleteManifest(ctx context.Context, clusterID, folder, name string) error {
	return r.changeManifests(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if find(c, folder, name) < 0 {
			return noManifest(c, folder, name)
		}
		removeManifest(w, c, folder, name)
		return nil
	})
}

// changeManifests refuses changes once an installation has made use of them.
func (r *Registry) changeManifests(ctx context.Context, clusterID string, act func(*settle.Work, *store.Cluster) error) error {
	_, err := r.units.Cluster(ctx, clusterID, func(w *settle.Work, c *store.Cluster) error {
		if !slices.Contains(clustermachine.Open, c.API.Status) || c.API.Status == wire.ClusterStatusAddingHosts {
			return apierror.BadRequest("the manifests of cluster %s cannot change while it is %s", c.API.Name, c.API.Status)
		}
		w.TouchCluster(c)
		return act(w, c)
	})
	return err
}

func manifestContent(folder, name, encoded string) (string, error) {
	err := checkManifestName(folder, name)
	var content []byte
	if err == nil {
		content, err = decodeManifest(name, encoded)
	}
	if errors.Is(err, errBadManifest) {
		err = apierror.BadRequest("%v", err)
	}
	return string(content), err
}

// addManifest refuses a name that lies in the other folder: both end up in one place.
func addManifest(w *settle.Work, c *store.Cluster, m wire.Manifest, content string) error {
	for _, other := range manifestFolders {
		if other != m.Folder && find(c, other, m.FileName) >= 0 {
			return apierror.BadRequest("cluster %s has a manifest %s in folder %s already", c.API.Name, m.FileName, other)
		}
	}
	if find(c, m.Folder, m.FileName) < 0 {
		if len(c.Manifests) >= maxManifests {
			return apierror.BadRequest("cluster %s has %d manifests already; put several documents into one", c.API.Name, maxManifests)
		}
		c.Manifests = append(c.Manifests, m)
		slices.SortFunc(c.Manifests, func(a, b wire.Manifest) int {
			return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.FileName, b.FileName))
		})
	}
	return w.PutManifest(c, m.Folder, m.FileName, content)
}

func removeManifest(w *settle.Work, c *store.Cluster, folder, name string) {
	if i := find(c, folder, name); i >= 0 {
		c.Manifests = slices.Delete(c.Manifests, i, i+1)
	}
	w.PutFile(store.ClusterFile{ClusterID: c.API.ID, Name: vault.ManifestFile(folder, name), Gone: true})
}

func find(c *store.Cluster, folder, name string) int {
	return slices.IndexFunc(c.Manifests, func(m wire.Manifest) bool { return m.Folder == folder && m.FileName == name })
}

func noManifest(c *store.Cluster, folder, name string) error {
	return apierror.NotFound("cluster %s has no manifest %.40s/%.80s", c.API.Name, folder, name)
}
