// Package vault keeps what an Ignition source made for a cluster, sealed, among the files
// of the cluster's record: it is what was proven, it is handed out as it is, and it goes
// with the cluster, as do the files that the cluster's objects hand in.
//
// Each host's Ignition is a file of its own; all else that the source made is one file
// ([Keep]). Pull secrets are sealed as well, within the records. [Vault] reads and writes them.
package vault

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
)

const (
	// folder is before all names, beside the folders of manifests.
	folder = "made/"
	rest   = folder + "rest"
	// routed is the kubeconfig that trusts the cluster's routes as well.
	routed = folder + "kubeconfig"
	// given are files that the cluster's objects hand in. A reset does not take them.
	given = "given/files"
)

// ErrNone tells that it was not made, or has gone with a reset.
var ErrNone = errors.New("it was not made")

// Vault seals and opens.
type Vault struct{ Keys seal.Keys }

// Keep is what was made but for the Ignition of hosts, with the source that made it.
type Keep struct {
	Source sources.Name
	Made   sources.Made
}

func hostFile(key store.HostKey) string { return folder + "host/" + key.InfraEnvID + "/" + key.HostID }

// place is what a file is sealed for.
func place(clusterID, name string) string { return "file " + name + " of cluster " + clusterID }

// put seals a file.
func (v Vault) put(clusterID, name string, plain []byte) (store.ClusterFile, error) {
	sealed, err := v.Keys.Seal(place(clusterID, name), plain)
	return store.ClusterFile{ClusterID: clusterID, Name: name, Content: sealed}, err
}

// get opens a file.
func (v Vault) get(r *store.Reader, clusterID, name string) ([]byte, error) {
	sealed, err := r.ClusterFile(clusterID, name)
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrNone
	}
	if err != nil {
		return nil, err
	}
	plain, err := v.Keys.Open(place(clusterID, name), sealed)
	if errors.Is(err, seal.ErrKey) {
		return nil, fmt.Errorf("%w, or install anew", err)
	}
	return plain, err
}

// Over is all of it, and what of an earlier preparation was not made again; nil for none.
func (k Keep) Over(earlier *sources.Made) Keep {
	if earlier != nil {
		k.Made.Files, k.Made.Credentials, k.Made.Secrets = over(earlier.Files, k.Made.Files), over(earlier.Credentials, k.Made.Credentials), over(earlier.Secrets, k.Made.Secrets)
	}
	return k
}

// Rest seals what was made but for the Ignition of hosts.
func (v Vault) Rest(clusterID string, k Keep) (store.ClusterFile, error) {
	k.Made.Hosts = nil
	raw, err := json.Marshal(k)
	if err != nil {
		return store.ClusterFile{}, err
	}
	return v.put(clusterID, rest, raw)
}

// HostFile seals the Ignition of a host, beside what was made for its cluster.
func (v Vault) HostFile(clusterID string, key store.HostKey, config []byte) (store.ClusterFile, error) {
	return v.put(clusterID, hostFile(key), config)
}

func over(below, above map[string][]byte) map[string][]byte {
	out := maps.Clone(below)
	if out == nil {
		return above
	}
	maps.Copy(out, above)
	return out
}

// Host is a host's Ignition, or [ErrNone].
func (v Vault) Host(r *store.Reader, clusterID string, key store.HostKey) ([]byte, error) {
	return v.get(r, clusterID, hostFile(key))
}

// Kept is what was made but for the Ignition of hosts, or [ErrNone].
func (v Vault) Kept(r *store.Reader, clusterID string) (Keep, error) {
	var out Keep
	raw, err := v.get(r, clusterID, rest)
	if err != nil {
		return out, err
	}
	if json.Unmarshal(raw, &out) != nil { // the error might have some of it
		return out, fmt.Errorf("%s: it cannot be read", place(clusterID, rest))
	}
	return out, nil
}

// Download is a file of the cluster that clients download, or [ErrNone].
func (v Vault) Download(r *store.Reader, clusterID, name string) ([]byte, error) {
	k, err := v.Kept(r, clusterID)
	return one(k.Made.Files, name, err)
}

// Credential is one of the cluster's, or [ErrNone].
func (v Vault) Credential(r *store.Reader, clusterID, name string) ([]byte, error) {
	k, err := v.Kept(r, clusterID)
	return one(k.Made.Credentials, name, err)
}

func one(of map[string][]byte, name string, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	raw, ok := of[name]
	if !ok {
		return nil, ErrNone
	}
	return raw, nil
}

// Routed is the kubeconfig that trusts the cluster's routes as well, or [ErrNone].
func (v Vault) Routed(r *store.Reader, clusterID string) ([]byte, error) {
	return v.get(r, clusterID, routed)
}

// PutRouted seals that kubeconfig.
func (v Vault) PutRouted(clusterID string, config []byte) (store.ClusterFile, error) {
	return v.put(clusterID, routed, config)
}

// Given are the files that the cluster's objects hand in; none without an error.
func (v Vault) Given(r *store.Reader, clusterID string) ([]sources.File, error) {
	raw, err := v.get(r, clusterID, given)
	if errors.Is(err, ErrNone) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []sources.File
	if json.Unmarshal(raw, &out) != nil { // the error might have some of it
		return nil, fmt.Errorf("%s: it cannot be read", place(clusterID, given))
	}
	return out, nil
}

// PutGiven seals those files; none removes them.
func (v Vault) PutGiven(clusterID string, files []sources.File) (store.ClusterFile, error) {
	if len(files) == 0 {
		return store.ClusterFile{ClusterID: clusterID, Name: given, Gone: true}, nil
	}
	raw, err := json.Marshal(files)
	if err != nil {
		return store.ClusterFile{}, err
	}
	return v.put(clusterID, given, raw)
}

// HostGone removes the Ignition of a host that has left the cluster.
func HostGone(clusterID string, key store.HostKey) store.ClusterFile {
	return store.ClusterFile{ClusterID: clusterID, Name: hostFile(key), Gone: true}
}

// Gone removes all that was made for a cluster, but for the files that follow.
func Gone(r *store.Reader, clusterID string, but []store.ClusterFile) ([]store.ClusterFile, error) {
	names, err := r.ClusterFileNames(clusterID, folder)
	if err != nil {
		return nil, err
	}
	kept := map[string]bool{}
	for _, f := range but {
		kept[f.Name] = true
	}
	var out []store.ClusterFile
	for _, name := range names {
		if !kept[name] {
			out = append(out, store.ClusterFile{ClusterID: clusterID, Name: name, Gone: true})
		}
	}
	return out, nil
}

// Reseal seals the files of a cluster anew that were sealed with an earlier key. Those that cannot be opened are left as
// they are, and the error says which; the others are returned all the same.
func (v Vault) Reseal(r *store.Reader, clusterID string) ([]store.ClusterFile, error) {
	names, err := r.ClusterFileNames(clusterID, folder)
	if err != nil {
		return nil, err
	}
	handedIn, err := r.ClusterFileNames(clusterID, given)
	if err != nil {
		return nil, err
	}
	var out []store.ClusterFile
	var lost []error
	for _, name := range append(names, handedIn...) {
		sealed, err := r.ClusterFile(clusterID, name)
		if err != nil {
			return nil, err
		}
		if v.Keys.Current(sealed) {
			continue
		}
		plain, err := v.Keys.Open(place(clusterID, name), sealed)
		if err != nil {
			lost = append(lost, err)
			continue
		}
		again, err := v.put(clusterID, name, plain)
		if err != nil {
			return nil, err
		}
		out = append(out, again)
	}
	return out, errors.Join(lost...)
}
