package service_test

import (
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// What a site's users write that opens something, or may: in tokens and headers of the server
// that has the Ignition of a running cluster, and in overrides.
const (
	inToken, inHeader, inAsked = "token-hunter2", "header-hunter2", "asked-hunter2"
	inHost, inImage, inConfig  = "host-hunter2", "image-hunter2", "config-hunter2"
)

func ignitionWith(secret string) string {
	return `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/secret","contents":{"source":"data:,` + secret + `"}}]}}`
}

const configWith = `{"platform":{"baremetal":{"password":"` + inConfig + `"}}}`

var (
	sealedHost  = store.HostKey{InfraEnvID: envID, HostID: hostA}
	withSecrets = []wire.IgnitionEndpointHTTPHeadersParams{{Key: "X-Site", Value: inHeader}}
	noSecrets   = Not(Or(ContainSubstring("hunter2"), ContainSubstring("X-Site")))
)

// plainRecords are those that an earlier version has written.
func plainRecords(t *testing.T, s store.Store) {
	t.Helper()
	host := &store.Host{EndpointToken: inToken, EndpointHeaders: withSecrets, Asked: store.HostSettings{TokenFrom: "site/token", Headers: map[string]string{"X-Site": inAsked}}}
	host.API = wire.Host{
		ID: hostA, InfraEnvID: envID, Kind: wire.HostKindHost, Status: wire.HostStatusDiscoveringUnbound,
		IgnitionEndpointTokenSet: true, IgnitionConfigOverrides: ignitionWith(inHost),
	}
	NewWithT(t).Expect(s.Commit(t.Context(), &store.Unit{
		InfraEnvs: []*store.InfraEnv{{API: wire.InfraEnv{ID: envID, Name: "pool", IgnitionConfigOverride: ignitionWith(inImage)}}},
		Clusters:  []*store.Cluster{{API: wire.Cluster{ID: sharedCluster, Name: "c", Kind: wire.ClusterKindCluster, Status: wire.ClusterStatusInsufficient, InstallConfigOverrides: configWith}}},
		Hosts:     []*store.Host{host},
	})).To(Succeed())
}

// readsAll expects that who may read them has all of them as they were.
func readsAll(t *testing.T, s store.Store, hub *service.Hub, letters ...string) {
	t.Helper()
	g, ctx := NewWithT(t), t.Context()
	view, host, err := hub.View(ctx, sealedHost)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.IgnitionConfigOverrides).To(Equal(ignitionWith(inHost)))
	g.Expect(view.Asked.Headers).To(HaveKeyWithValue("X-Site", inAsked))
	g.Expect(hub.InfraEnv(ctx, envID)).To(HaveField("IgnitionConfigOverride", ignitionWith(inImage)))
	g.Expect(hub.Cluster(ctx, sharedCluster, false)).To(HaveField("InstallConfigOverrides", configWith))
	g.Expect(store.Sealed(s, keysOf(t, letters...)).View(ctx, func(r *store.Reader) error {
		kept, err := r.Host(sealedHost)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(kept.EndpointToken).To(Equal(inToken))
		g.Expect(kept.EndpointHeaders).To(Equal(withSecrets))
		return nil
	})).To(Succeed())
}

// TestPlainMembersAreSealed: those of an earlier version.
func TestPlainMembersAreSealed(t *testing.T) {
	plain{secrets: []string{inToken, inHeader, inAsked, inHost, inImage, inConfig, "X-Site"}, write: plainRecords, read: readsAll}.isSealed(t)
}

// TestMembersLieSealed, whoever writes them; another change leaves them, and they can be
// taken away.
func TestMembersLieSealed(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	place, s := in(t, "sqlite")
	hub := sealing(t, s, "a")
	_, err := hub.EnsureInfraEnv(ctx, service.InfraEnvSpec{ID: envID, Name: "pool", IgnitionOverride: ignitionWith(inImage)})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hub.RegisterHost(ctx, service.Registration{InfraEnvID: envID, HostID: hostA})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hub.EnsureCluster(ctx, service.ClusterSpec{ID: sharedCluster, Name: "c", Masters: 3, InstallConfigOverrides: configWith})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(hub.SetHostIgnition(ctx, sealedHost, ignitionWith(inHost))).To(Succeed())
	_, err = hub.Ask(ctx, sealedHost, store.HostSettings{TokenFrom: "site/token", Headers: map[string]string{"X-Site": inAsked}}, inToken)
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hub.UpdateHost(ctx, sealedHost, wire.HostUpdateParams{IgnitionEndpointHTTPHeaders: withSecrets})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(everything(t, place)).To(noSecrets)
	readsAll(t, s, hub, "a")

	before := everything(t, place)
	_, err = hub.UpdateHost(ctx, sealedHost, wire.HostUpdateParams{HostName: new("other")})
	g.Expect(err).NotTo(HaveOccurred())
	readsAll(t, s, hub, "a")
	sealedRows := func(dump string) (all []string) {
		for _, row := range rows(dump) {
			if strings.Contains(row, `"kind":"ignition"`) || strings.Contains(row, `"table":"clusters"`) {
				all = append(all, row)
			}
		}
		return all
	}
	g.Expect(sealedRows(before)).To(HaveLen(2))
	g.Expect(sealedRows(everything(t, place))).To(Equal(sealedRows(before)), "what has not changed is not written again")

	g.Expect(hub.SetHostIgnition(ctx, sealedHost, "")).To(Succeed())
	_, host, err := hub.View(ctx, sealedHost)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.IgnitionConfigOverrides).To(BeEmpty())
}

// TestMembersUnderAnotherKey are empty and said until they are set anew, and stay in the
// store for whoever finds the key.
func TestMembersUnderAnotherKey(t *testing.T) {
	g, ctx := NewWithT(t), t.Context()
	_, s := in(t, "sqlite")
	plainRecords(t, s)
	first := sealing(t, s, "a")
	g.Expect(first.Reseal(ctx)).To(Succeed())

	lost := sealing(t, s, "b")
	_, host, err := lost.View(ctx, sealedHost)
	g.Expect(err).NotTo(HaveOccurred(), "the host is there all the same")
	g.Expect(host.IgnitionConfigOverrides).To(BeEmpty())
	g.Expect(lost.Reseal(ctx)).To(MatchError(And(
		ContainSubstring("ignition_endpoint_token of host "+hostA), ContainSubstring("ignition_config_override of infra-env "+envID),
		ContainSubstring("install_config_overrides of cluster "+sharedCluster), ContainSubstring("sealed with a key that this hub does not have; put the key back beside agent.key, or set it anew"),
	)))
	g.Expect(lost.ImageParts(ctx, envID)).Error().To(MatchError(ContainSubstring("ignition_config_override of infra-env")), "no image is made without it")
	_, err = lost.UpdateHost(ctx, sealedHost, wire.HostUpdateParams{HostName: new("other")})
	g.Expect(err).NotTo(HaveOccurred())
	readsAll(t, s, first, "a")

	g.Expect(lost.SetHostIgnition(ctx, sealedHost, ignitionWith(inImage))).To(Succeed())
	_, host, err = lost.View(ctx, sealedHost)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(host.IgnitionConfigOverrides).To(Equal(ignitionWith(inImage)))
}
