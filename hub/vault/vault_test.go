package vault_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/sources"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/vault"
	"github.com/ironflow/ironflow/hub/wire"
)

const clusterID = "c1"

func vaultOf(t *testing.T, letters ...string) vault.Vault {
	t.Helper()
	var secrets [][]byte
	for _, l := range letters {
		secrets = append(secrets, bytes.Repeat([]byte(l), 32))
	}
	keys, err := seal.New(secrets...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return vault.Vault{Keys: keys}
}

func TestWhatWasMadeIsKept(t *testing.T) {
	g := NewWithT(t)
	s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	c, old := &store.Cluster{API: wire.Cluster{ID: clusterID}}, vaultOf(t, "a")
	host, gone := store.HostKey{InfraEnvID: "e", HostID: "h"}, store.HostKey{InfraEnvID: "e", HostID: "gone"}
	keep := func(files []store.ClusterFile, errs ...error) {
		t.Helper()
		g.Expect(errors.Join(errs...)).NotTo(HaveOccurred())
		for _, f := range files {
			g.Expect(f.Content).NotTo(ContainSubstring("hunter2"))
		}
		g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}, Files: files})).To(Succeed())
	}
	view := func(f func(r *store.Reader) error) error { return s.View(t.Context(), f) }

	made := sources.Made{Credentials: map[string][]byte{"kubeadmin-password": []byte("hunter2")}, Secrets: map[string][]byte{"ca": []byte("hunter2")}}
	rest, err := old.Rest(clusterID, vault.Keep{Source: sources.Files, Made: made}.Over(nil))
	first, err1 := old.HostFile(clusterID, host, []byte("hunter2 of h"))
	second, err2 := old.HostFile(clusterID, gone, []byte("x"))
	keep([]store.ClusterFile{rest, first, second}, err, err1, err2)
	handedIn := []sources.File{{Name: "worker.ign", From: "Secret site/roles", Content: []byte("hunter2 too")}}
	file, err := old.PutGiven(clusterID, handedIn)
	keep([]store.ClusterFile{file}, err)
	later := sources.Made{Files: map[string][]byte{"metadata.json": []byte("{}")}}
	rest, err = old.Rest(clusterID, vault.Keep{Source: sources.Files, Made: later}.Over(&made))
	first, err1 = old.HostFile(clusterID, host, []byte("hunter2 again"))
	keep([]store.ClusterFile{rest, first}, err, err1)

	now := vaultOf(t, "b", "a") // the key is replaced
	var again []store.ClusterFile
	g.Expect(view(func(r *store.Reader) (err error) {
		again, err = now.Reseal(r, clusterID)
		return err
	})).To(Succeed())
	g.Expect(again).To(HaveLen(4))
	keep(again, nil)
	alone := vaultOf(t, "b")
	g.Expect(view(func(r *store.Reader) error {
		g.Expect(alone.Host(r, clusterID, host)).To(BeEquivalentTo("hunter2 again"))
		g.Expect(alone.Credential(r, clusterID, "kubeadmin-password")).To(BeEquivalentTo("hunter2"), "what is not made again is kept")
		g.Expect(alone.Download(r, clusterID, "metadata.json")).To(BeEquivalentTo("{}"))
		_, err := alone.Download(r, clusterID, "ca")
		g.Expect(err).To(MatchError(vault.ErrNone), "a source's secrets are nobody's download")
		_, err = alone.Host(r, clusterID, store.HostKey{InfraEnvID: "e", HostID: "other"})
		g.Expect(err).To(MatchError(vault.ErrNone))
		_, err = old.Host(r, clusterID, host)
		g.Expect(err).To(MatchError(seal.ErrKey))
		g.Expect(alone.Given(r, clusterID)).To(Equal(handedIn))
		removed, err := vault.Gone(r, clusterID, nil)
		g.Expect(removed).To(HaveLen(3), "what objects hand in is not made")
		return err
	})).To(Succeed())
	none, err := alone.PutGiven(clusterID, nil)
	keep([]store.ClusterFile{none, vault.HostGone(clusterID, gone)}, err)
	g.Expect(view(func(r *store.Reader) error {
		g.Expect(alone.Given(r, clusterID)).To(BeEmpty())
		names, err := r.ClusterFileNames(clusterID, "")
		g.Expect(names).To(ConsistOf("made/host/e/h", "made/rest"))
		return err
	})).To(Succeed())
}
