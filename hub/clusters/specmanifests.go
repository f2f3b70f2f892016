package clusters

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"maps"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

// checkManifests refuses those that nobody can apply.
func (spec Spec) checkManifests() error {
	if len(spec.Manifests) > maxManifests {
		return apierror.BadRequest("cluster %s has more than %d manifests; put several documents into one", spec.Name, maxManifests)
	}
	names := map[string]bool{}
	for _, m := range spec.Manifests {
		if names[m.Name] {
			return apierror.BadRequest("manifest %.80q of cluster %s is there twice", m.Name, spec.Name)
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
		out[vault.ManifestFile(m.Folder, m.Name)] = hex.EncodeToString(sum[:])
	}
	return out
}

// takeManifests brings the spec's manifests, or names them where they come too late.
func (spec Spec) takeManifests(w *settle.Work, c *store.Cluster, inTime bool) (late []string, err error) {
	differ := !maps.Equal(spec.sums(), c.SpecManifests)
	if inTime && !differ {
		differ, err = lost(w, c)
	}
	switch {
	case err != nil || !differ:
		return nil, err
	case inTime:
		return nil, spec.bringManifests(w, c)
	}
	return []string{"Manifests"}, nil
}

// lost tells that a manifest of an earlier spec is sealed with a key that is lost: its object
// has it still.
func lost(w *settle.Work, c *store.Cluster) (bool, error) {
	for _, m := range c.Manifests {
		if _, ours := c.SpecManifests[vault.ManifestFile(m.Folder, m.FileName)]; !ours {
			continue
		}
		switch _, err := w.Manifest(c, m.Folder, m.FileName); {
		case errors.Is(err, seal.ErrKey):
			return true, nil
		case err != nil:
			return false, err
		}
	}
	return false, nil
}

// bringManifests puts the spec's manifests in the place of those that an earlier one had.
// Users of the REST API keep theirs; a name that one of them has is refused.
func (spec Spec) bringManifests(w *settle.Work, c *store.Cluster) error {
	sums := spec.sums()
	for _, m := range append([]wire.Manifest(nil), c.Manifests...) {
		file := vault.ManifestFile(m.Folder, m.FileName)
		_, ours := c.SpecManifests[file]
		if _, stays := sums[file]; ours && !stays {
			removeManifest(w, c, m.Folder, m.FileName)
		}
	}
	for _, m := range spec.Manifests {
		file := vault.ManifestFile(m.Folder, m.Name)
		had, ours := c.SpecManifests[file]
		if ours && had == sums[file] && find(c, m.Folder, m.Name) >= 0 {
			if _, err := w.Manifest(c, m.Folder, m.Name); !errors.Is(err, seal.ErrKey) {
				continue
			}
		}
		if !ours && find(c, m.Folder, m.Name) >= 0 {
			return apierror.BadRequest("cluster %s has a manifest %s/%s by the REST API already; remove one of them", c.API.Name, m.Folder, m.Name)
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
