package service_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/filestore"
	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/postgres"
)

// The texts that a registry would take: they are all that has to be secret of a pull secret.
const (
	firstLogin, secondLogin = "dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIz"
	firstSecret             = `{"auths":{"registry.example":{"auth":"` + firstLogin + `"}}}`
	secondSecret            = `{"auths":{"registry.example":{"auth":"` + secondLogin + `"}}}`
)

// places are stores that can be read past the hub.
var places = map[string]func(t *testing.T) (store.Place, func() (store.Store, error)){
	"sqlite": func(t *testing.T) (store.Place, func() (store.Store, error)) {
		path := t.TempDir() + "/hub.sqlite"
		return store.Place{SQLite: path}, func() (store.Store, error) { return store.OpenSQLite(t.Context(), path) }
	},
	"postgres": func(t *testing.T) (store.Place, func() (store.Store, error)) {
		db := postgres.New(t)
		o := store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile}
		return store.Place{Postgres: o}, func() (store.Store, error) { return store.OpenPostgres(t.Context(), o) }
	},
}

// keysOf are made of the letters; the first one seals.
func keysOf(t *testing.T, letters ...string) seal.Keys {
	t.Helper()
	var secrets [][]byte
	for _, l := range letters {
		secrets = append(secrets, bytes.Repeat([]byte(l), 32))
	}
	keys, err := seal.New(secrets...)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return keys
}

// sealing is a hub whose keys are made of the letters; the first one seals.
func sealing(t *testing.T, s store.Store, letters ...string) *service.Hub {
	t.Helper()
	g := NewWithT(t)
	keys := keysOf(t, letters...)
	files, err := filestore.OpenDirectory(t.TempDir())
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = files.Close() })
	hub, err := service.New(service.Options{Store: s, Files: files, Keys: keys})
	g.Expect(err).NotTo(HaveOccurred())
	return hub
}

// onDisk is the database's file as it is, with the log of its changes; empty for PostgreSQL.
func onDisk(t *testing.T, place store.Place) string {
	t.Helper()
	if place.SQLite == "" {
		return ""
	}
	var all strings.Builder
	for _, name := range []string{place.SQLite, place.SQLite + "-wal"} {
		raw, err := os.ReadFile(name)
		NewWithT(t).Expect(err).NotTo(HaveOccurred())
		all.WriteString(string(raw))
	}
	return all.String()
}

// everything is all rows of all tables, as a backup has them.
func everything(t *testing.T, place store.Place) string {
	t.Helper()
	var all bytes.Buffer
	_, err := store.Dump(t.Context(), place, time.Now(), &all)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return all.String()
}

// TestPullSecretsLieSealed in either database: what users and controllers write, and what
// they write in its place.
func TestPullSecretsLieSealed(t *testing.T) {
	for name, prepare := range places {
		t.Run(name, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			place, open := prepare(t)
			s, err := open()
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = s.Close() })
			hub := sealing(t, s, "a")
			c, err := hub.CreateCluster(ctx, wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20.1", PullSecret: firstSecret})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(c.PullSecretSet).To(BeTrue())
			env, err := hub.CreateInfraEnv(ctx, wire.InfraEnvCreateParams{Name: "pool", PullSecret: firstSecret})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(env.PullSecretSet).To(BeTrue())
			spec := service.InfraEnvSpec{ID: envID, Name: "env", PullSecret: firstSecret}
			cluster := service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 3, PullSecret: firstSecret}
			_, err = hub.EnsureInfraEnv(ctx, spec)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = hub.EnsureCluster(ctx, cluster)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(everything(t, place)).NotTo(Or(ContainSubstring(firstLogin), ContainSubstring("registry.example")))
			g.Expect(hub.ImageParts(ctx, envID)).To(HaveField("PullSecret", firstSecret))
			g.Expect(hub.ImageParts(ctx, env.ID)).To(HaveField("PullSecret", firstSecret))
			g.Expect(hub.InstallConfig(ctx, c.ID)).To(ContainSubstring(firstLogin), "it is what openshift-install is told")

			before := everything(t, place)
			_, err = hub.EnsureInfraEnv(ctx, spec)
			g.Expect(err).NotTo(HaveOccurred())
			_, err = hub.EnsureCluster(ctx, cluster)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(rows(everything(t, place))).To(Equal(rows(before)), "who asks for the same changes nothing")

			_, err = hub.UpdateCluster(ctx, c.ID, wire.V2ClusterUpdateParams{PullSecret: new(secondSecret)})
			g.Expect(err).NotTo(HaveOccurred())
			_, err = hub.UpdateInfraEnv(ctx, env.ID, wire.InfraEnvUpdateParams{PullSecret: secondSecret})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(everything(t, place)).NotTo(ContainSubstring(secondLogin))
			g.Expect(onDisk(t, place)).NotTo(Or(ContainSubstring(firstLogin), ContainSubstring(secondLogin)))
			g.Expect(hub.ImageParts(ctx, env.ID)).To(HaveField("PullSecret", secondSecret))
			g.Expect(hub.InstallConfig(ctx, c.ID)).To(ContainSubstring(secondLogin))
			_, err = hub.UpdateCluster(ctx, c.ID, wire.V2ClusterUpdateParams{Name: new("other")})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(hub.InstallConfig(ctx, c.ID)).To(ContainSubstring(secondLogin), "another change leaves it")
			_, err = hub.UpdateCluster(ctx, c.ID, wire.V2ClusterUpdateParams{PullSecret: new("no JSON")})
			g.Expect(service.Code(err)).To(Equal(400), "it is checked before it is sealed")
		})
	}
}

// rows are the lines of a dump without the first one, which has its time.
func rows(dump string) []string {
	var out []string
	for _, line := range bytes.Split([]byte(dump), []byte("\n"))[1:] {
		out = append(out, string(line))
	}
	return out
}

// TestPlainPullSecretsAreSealed when the hub starts over records of an earlier version; until
// then, they are read as they are.
func TestPlainPullSecretsAreSealed(t *testing.T) {
	for name, prepare := range places {
		t.Run(name, func(t *testing.T) {
			g, ctx := NewWithT(t), t.Context()
			place, open := prepare(t)
			s, err := open()
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = s.Close() })
			env := &store.InfraEnv{API: wire.InfraEnv{ID: envID, Name: "env", PullSecretSet: true}, PullSecret: firstSecret}
			c := &store.Cluster{
				API:        wire.Cluster{ID: sharedCluster, Name: "c", Kind: wire.ClusterKindCluster, Status: wire.ClusterStatusInstalled, PullSecretSet: true},
				PullSecret: firstSecret, Masters: 3,
			}
			g.Expect(s.Commit(ctx, &store.Unit{InfraEnvs: []*store.InfraEnv{env}, Clusters: []*store.Cluster{c}})).To(Succeed())
			g.Expect(everything(t, place)).To(ContainSubstring(firstLogin), "this test can see it")
			hub := sealing(t, s, "a")
			g.Expect(hub.ImageParts(ctx, envID)).To(HaveField("PullSecret", firstSecret))
			g.Expect(hub.Reseal(ctx)).To(Succeed())
			g.Expect(everything(t, place)).NotTo(ContainSubstring(firstLogin))
			g.Expect(onDisk(t, place)).NotTo(ContainSubstring(firstLogin), "nothing is left between the rows")
			g.Expect(hub.ImageParts(ctx, envID)).To(HaveField("PullSecret", firstSecret))
			g.Expect(hub.InstallConfig(ctx, sharedCluster)).To(ContainSubstring(firstLogin))
			again := everything(t, place)
			g.Expect(hub.Reseal(ctx)).To(Succeed())
			g.Expect(rows(everything(t, place))).To(Equal(rows(again)), "there is nothing to do twice")
		})
	}
}

// TestPullSecretsUnderAnotherKey: a key that is replaced seals them anew, and one that is lost
// is said with what can be done about it.
func TestPullSecretsUnderAnotherKey(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, open := places["sqlite"](t)
	s, err := open()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	first := sealing(t, s, "a")
	spec := service.InfraEnvSpec{ID: envID, Name: "env", PullSecret: firstSecret}
	_, err = first.EnsureInfraEnv(ctx, spec)
	g.Expect(err).NotTo(HaveOccurred())
	c, err := first.CreateCluster(ctx, wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20.1", PullSecret: firstSecret})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(sealing(t, s, "b", "a").Reseal(ctx)).To(Succeed())
	g.Expect(sealing(t, s, "b").ImageParts(ctx, envID)).To(HaveField("PullSecret", firstSecret))
	g.Expect(sealing(t, s, "b").InstallConfig(ctx, c.ID)).To(ContainSubstring(firstLogin))

	lost := sealing(t, s, "c")
	for what, err := range map[string]error{
		"image": second(lost.ImageParts(ctx, envID)), "install-config": second(lost.InstallConfig(ctx, c.ID)), "start": lost.Reseal(ctx),
	} {
		g.Expect(err).To(MatchError(ContainSubstring("sealed with a key that this hub does not have; put the key back beside agent.key")), what)
	}
	g.Expect(second(lost.InstallConfig(ctx, c.ID))).To(MatchError(ContainSubstring("or set pull_secret anew")))
	_, err = lost.EnsureInfraEnv(ctx, spec)
	g.Expect(err).NotTo(HaveOccurred(), "its object has it still")
	g.Expect(lost.ImageParts(ctx, envID)).To(HaveField("PullSecret", firstSecret))
	_, err = lost.UpdateCluster(ctx, c.ID, wire.V2ClusterUpdateParams{PullSecret: new(secondSecret)})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(lost.InstallConfig(ctx, c.ID)).To(ContainSubstring(secondLogin))
}

func second[T any](_ T, err error) error { return err }
