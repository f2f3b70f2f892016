package vault

import (
	"errors"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/store"
)

// Manifests lie sealed, whoever hands them in: Secrets are among them. Those of an earlier
// version are plain, and are read all the same until [Vault.Reseal] has sealed them.

// manifests is before the names of the files with manifests.
const manifests = "manifests/"

// ManifestFile is the name of the file with a manifest of a cluster.
func ManifestFile(folder, name string) string { return manifests + folder + "/" + name }

// Manifest is the content of a file with a manifest, or [store.ErrNotFound].
func (v Vault) Manifest(r *store.Reader, clusterID, file string) (string, error) {
	kept, err := r.ClusterFile(clusterID, file)
	if err != nil {
		return "", err
	}
	return v.Keys.Reveal(place(clusterID, file), seal.Text(kept))
}

// PutManifest seals one.
func (v Vault) PutManifest(clusterID, file, content string) (store.ClusterFile, error) {
	return v.put(clusterID, file, []byte(content))
}

// ResealManifests seals those anew that were sealed with an earlier key, as [Vault.Reseal] does; plain
// tells that there was one that had never been sealed.
func (v Vault) ResealManifests(r *store.Reader, clusterID string) (out []store.ClusterFile, plain bool, err error) {
	names, err := r.ClusterFileNames(clusterID, manifests)
	if err != nil {
		return nil, false, err
	}
	var lost []error
	for _, name := range names {
		kept, err := r.ClusterFile(clusterID, name)
		if err != nil {
			return nil, false, err
		}
		again, done, err := v.Keys.Renew(place(clusterID, name), seal.Text(kept))
		if err != nil {
			lost = append(lost, err)
		}
		if done {
			plain = plain || seal.Text(kept).Plain()
			out = append(out, store.ClusterFile{ClusterID: clusterID, Name: name, Content: string(again)})
		}
	}
	return out, plain, errors.Join(lost...)
}
