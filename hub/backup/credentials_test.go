package backup_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/backup"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestARestoredHubHasTheCredentialsOfItsClusters, which lie sealed in the records: without the keys they are
// lost, to whoever finds the records, too.
func TestARestoredHubHasTheCredentialsOfItsClusters(t *testing.T) {
	g := NewWithT(t)
	cluster, ignition := uuid.NewString(), t.TempDir()
	credentials := map[string]string{"kubeconfig-noingress": "apiVersion: v1\nkind: Config\n# of this cluster\n", "kubeadmin-password": "aaaaa-bbbbb-ccccc"}
	g.Expect(os.Mkdir(filepath.Join(ignition, cluster), 0o700)).To(Succeed())
	for name, text := range credentials {
		g.Expect(os.WriteFile(filepath.Join(ignition, cluster, name), []byte(text), 0o600)).To(Succeed())
	}
	hub := testhub.Start(t, testhub.Options{IgnitionDir: ignition, Dir: t.TempDir()})
	_, err := hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: cluster, Name: "prod", BaseDomain: "lab.example", Masters: 1})
	g.Expect(err).NotTo(HaveOccurred())
	key := store.HostKey{InfraEnvID: uuid.NewString(), HostID: uuid.NewString()}
	_, err = hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: key.InfraEnvID, Name: "edge", ClusterID: cluster, AutoApprove: true})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := hub.AgentToken(t.Context(), key.InfraEnvID)
	g.Expect(err).NotTo(HaveOccurred())
	agent := hub.Agent(token)
	agent.Register(t, key)
	agent.UntilInstall(t, key, testhub.Inventory(1))

	var copied bytes.Buffer
	_, err = backup.Write(t.Context(), folder(hub.Dir), time.Now(), &copied)
	g.Expect(err).NotTo(HaveOccurred())
	zipped, err := gzip.NewReader(bytes.NewReader(copied.Bytes()))
	g.Expect(err).NotTo(HaveOccurred())
	plain, err := io.ReadAll(zipped)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(string(plain)).NotTo(Or(ContainSubstring("of this cluster"), ContainSubstring("aaaaa-bbbbb-ccccc")))

	restored := func(change func(dir string)) *testhub.Hub {
		dir := filepath.Join(t.TempDir(), "new")
		_, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied.Bytes()))
		g.Expect(err).NotTo(HaveOccurred())
		change(dir)
		return testhub.Start(t, testhub.Options{Dir: dir})
	}
	whole := restored(func(string) {})
	for name, text := range credentials {
		raw, err := whole.CredentialsFile(t.Context(), cluster, name)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(string(raw)).To(Equal(text), "it is not made anew: the cluster knows this one")
	}
	whole.Agent(token).Poll(t, key)

	without := restored(func(dir string) { g.Expect(os.Remove(filepath.Join(dir, "cluster.key"))).To(Succeed()) })
	for name := range credentials {
		_, err := without.CredentialsFile(t.Context(), cluster, name)
		g.Expect(err).To(MatchError(seal.ErrKey))
	}
}

// TestWhatHappenedSinceABackupIsNotTakenBack: a record that is put back is told from the one that was there, so that who has
// seen its hosts since knows that the record does not.
func TestWhatHappenedSinceABackupIsNotTakenBack(t *testing.T) {
	g := NewWithT(t)
	birth := func(dir string) string {
		s, err := store.OpenSQLite(t.Context(), folder(dir).Place.SQLite)
		g.Expect(err).NotTo(HaveOccurred())
		defer func() { g.Expect(s.Close()).To(Succeed()) }()
		var env *store.InfraEnv
		g.Expect(s.View(t.Context(), func(r *store.Reader) (err error) {
			all, err := r.InfraEnvs(store.InfraEnvFilter{})
			env = all[0]
			return err
		})).To(Succeed())
		return env.Birth
	}
	hub := testhub.Start(t, testhub.Options{Dir: t.TempDir()})
	_, err := hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: uuid.NewString(), Name: "edge"})
	g.Expect(err).NotTo(HaveOccurred())
	var copied bytes.Buffer
	_, err = backup.Write(t.Context(), folder(hub.Dir), time.Now(), &copied)
	g.Expect(err).NotTo(HaveOccurred())
	var births []string
	for range 2 {
		dir := filepath.Join(t.TempDir(), "new")
		_, err := backup.Restore(t.Context(), folder(dir), bytes.NewReader(copied.Bytes()))
		g.Expect(err).NotTo(HaveOccurred())
		births = append(births, birth(dir))
	}
	g.Expect(births[0]).NotTo(Or(BeEmpty(), Equal(births[1])))
}
