package clusters

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"

	"github.com/ironflow/ironflow/hub/manifests"
	"github.com/ironflow/ironflow/hub/refusal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// checkManifests refuses those that nobody can apply.
func (spec Spec) checkManifests() error {
	if len(spec.Manifests) > maxManifests {
		return refusal.BadRequest("cluster %s has more than %d manifests; put several documents into one", spec.Name, maxManifests)
	}
	names := map[string]bool{}
	for _, m := range spec.Manifests {
		if names[m.Name] {
			return refusal.BadRequest("manifest %.80q of cluster %s is there twice", m.Name, spec.Name)
		}
		names[m.Name] = true
		if _, err := manifestContent(m.Folder, m.Name, base64.StdEncoding.EncodeToString(m.Content)); err != nil {
			return err
		}
	}
	return nil
}

// sums are the manifests by their files, with what tells that a content has changed.
func (spec Spec) sums() map[string]string {
	out := map[string]string{}
	for _, m := range spec.Manifests {
		sum := sha256.Sum256(m.Content)
		out[manifests.File(m.Folder, m.Name)] = hex.EncodeToString(sum[:])
	}
	return out
}

func (spec Spec) manifestsDiffer(c *store.Cluster) bool {
	return !maps.Equal(spec.sums(), c.SpecManifests)
}

// bringManifests puts the spec's manifests in the place of those that an earlier one had.
// Users of the REST API keep theirs; a name that one of them has is refused.
func (spec Spec) bringManifests(w *settle.Work, c *store.Cluster) error {
	sums := spec.sums()
	for _, m := range append([]wire.Manifest(nil), c.Manifests...) {
		file := manifests.File(m.Folder, m.FileName)
		_, ours := c.SpecManifests[file]
		if _, stays := sums[file]; ours && !stays {
			removeManifest(w, c, m.Folder, m.FileName)
		}
	}
	for _, m := range spec.Manifests {
		file := manifests.File(m.Folder, m.Name)
		had, ours := c.SpecManifests[file]
		if ours && had == sums[file] && find(c, m.Folder, m.Name) >= 0 {
			continue
		}
		if !ours && find(c, m.Folder, m.Name) >= 0 {
			return refusal.BadRequest("cluster %s has a manifest %s/%s by the REST API already; remove one of them", c.API.Name, m.Folder, m.Name)
		}
		if err := addManifest(w, c, manifestOf(m), string(m.Content)); err != nil {
			return err
		}
	}
	c.SpecManifests = sums
	return nil
}

func manifestOf(m sources.Manifest) wire.Manifest {
	return wire.Manifest{Folder: m.Folder, FileName: m.Name, ManifestSource: wire.ManifestManifestSourceUser}
}
