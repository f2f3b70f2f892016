package service_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// The texts that a registry would take: they are all that has to be secret of a pull secret.
const (
	firstLogin, secondLogin = "dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIz"
	firstSecret             = `{"auths":{"registry.example":{"auth":"` + firstLogin + `"}}}`
	secondSecret            = `{"auths":{"registry.example":{"auth":"` + secondLogin + `"}}}`
)

// TestPullSecretsLieSealed in either database: what users and controllers write, and what
// they write in its place.
func TestPullSecretsLieSealed(t *testing.T) {
	inEachPlace(t, func(t *testing.T, place store.Place, s store.Store) {
		g, ctx := NewWithT(t), t.Context()
		hub := sealing(t, s, "a")
		c, err := hub.CreateCluster(ctx, wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20.1", PullSecret: firstSecret}, nil)
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

// TestPlainPullSecretsAreSealed when the hub starts over records of an earlier version; until
// then, they are read as they are.
func TestPlainPullSecretsAreSealed(t *testing.T) {
	plain{
		secrets: []string{firstLogin},
		write: func(t *testing.T, s store.Store) {
			env := &store.InfraEnv{API: wire.InfraEnv{ID: envID, Name: "env", PullSecretSet: true}, PullSecret: firstSecret}
			c := &store.Cluster{
				API:        wire.Cluster{ID: sharedCluster, Name: "c", Kind: wire.ClusterKindCluster, Status: wire.ClusterStatusInstalled, PullSecretSet: true},
				PullSecret: firstSecret, Masters: 3,
			}
			NewWithT(t).Expect(s.Commit(t.Context(), &store.Unit{InfraEnvs: []*store.InfraEnv{env}, Clusters: []*store.Cluster{c}})).To(Succeed())
		},
		read: func(t *testing.T, _ store.Store, hub *service.Hub, _ ...string) {
			g := NewWithT(t)
			g.Expect(hub.ImageParts(t.Context(), envID)).To(HaveField("PullSecret", firstSecret))
			g.Expect(hub.InstallConfig(t.Context(), sharedCluster)).To(ContainSubstring(firstLogin))
		},
	}.isSealed(t)
}

// TestPullSecretsUnderAnotherKey: a key that is replaced seals them anew, and one that is lost
// is said with what can be done about it.
func TestPullSecretsUnderAnotherKey(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, s := in(t, "sqlite")
	first := sealing(t, s, "a")
	spec := service.InfraEnvSpec{ID: envID, Name: "env", PullSecret: firstSecret}
	_, err := first.EnsureInfraEnv(ctx, spec)
	g.Expect(err).NotTo(HaveOccurred())
	c, err := first.CreateCluster(ctx, wire.ClusterCreateParams{Name: "edge", OpenshiftVersion: "4.20.1", PullSecret: firstSecret}, nil)
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
