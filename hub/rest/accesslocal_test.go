package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/localtoken"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
	"github.com/ironflow/ironflow/test/pages"
)

// registered is a host of the infra-env in its cluster, as the hub itself has it.
func registered(t *testing.T, hub *testhub.Hub, env, cluster string) *fixture {
	t.Helper()
	out := &fixture{Hub: hub, env: env, cluster: cluster, host: store.HostKey{InfraEnvID: env, HostID: uuid.NewString()}}
	_, err := hub.RegisterHost(t.Context(), service.Registration{InfraEnvID: env, HostID: out.host.HostID})
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return out
}

// elsewhere is one in a cluster and an infra-env of its own.
func elsewhere(t *testing.T, hub *testhub.Hub, name string) *fixture {
	t.Helper()
	g := NewWithT(t)
	env, cluster := uuid.NewString(), uuid.NewString()
	_, err := hub.EnsureCluster(t.Context(), service.ClusterSpec{ID: cluster, Name: name, Masters: 3})
	g.Expect(err).NotTo(HaveOccurred())
	_, err = hub.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: env, Name: name, ClusterID: cluster})
	g.Expect(err).NotTo(HaveOccurred())
	return registered(t, hub, env, cluster)
}

// ofTheImage is the cluster of an installation without a hub outside, with its infra-env and a host.
func (l *local) ofTheImage(t *testing.T) *fixture {
	t.Helper()
	g := NewWithT(t)
	var cluster wire.Cluster
	code, raw := l.user().Do(t, "POST", "/clusters", wire.ClusterCreateParams{Name: "edge", BaseDNSDomain: "example.com", PullSecret: pullSecret}, &cluster)
	g.Expect(code).To(Equal(201), raw)
	code, raw = l.user().Do(t, "POST", "/infra-envs", wire.InfraEnvCreateParams{Name: "edge", PullSecret: pullSecret, ClusterID: &cluster.ID}, nil)
	g.Expect(code).To(Equal(201), raw)
	return registered(t, l.Hub, localEnv, cluster.ID)
}

// TestWhoMayDoWhatOfAnInstallation asks for every operation with the tokens of an
// installation without a hub outside, and of a hub without authentication.
func TestWhoMayDoWhatOfAnInstallation(t *testing.T) {
	g := NewWithT(t)
	l := newLocal(t)
	own, foreign := l.ofTheImage(t), elsewhere(t, l.Hub, "another")
	open := testhub.Start(t, testhub.Options{NoAuth: true})
	nobody := []bearer{
		{"nobody", l.Agent(""), own, foreign},
		{"a forged agent's token", l.Agent(l.tokens[localtoken.Agent] + "x"), own, foreign},
		{"a forged user's token", l.Agent("").With("Authorization", l.tokens[localtoken.User]+"x"), own, foreign},
		{"an agent's token as a user's", l.with(localtoken.Agent, "Authorization"), own, foreign},
		{"a watcher's token as an agent's", l.with(localtoken.Watcher, wire.HeaderAgentToken), own, foreign},
		{"a watcher's token as a user's", l.with(localtoken.Watcher, "Authorization"), own, foreign},
		{"a user's token as an agent's", l.with(localtoken.User, wire.HeaderAgentToken), own, foreign},
		{"a user of another kind of hub", l.User(), own, foreign},
	}
	bearers := []bearer{
		{"`agent-installer-local`: agent", l.agent(), own, foreign},
		{"`agent-installer-local`: watcher", l.watcher(), own, foreign},
		{"`agent-installer-local`: user", l.user(), own, foreign},
		{"`none`: everybody", open.Agent(""), elsewhere(t, open, "one"), elsewhere(t, open, "two")},
	}
	operations, err := protocol.Operations()
	g.Expect(err).NotTo(HaveOccurred())
	rows := ask(t, operations, nobody, bearers)
	for _, op := range operations {
		g.Expect(rows[op.ID][3]).To(Equal(always), "%s of a hub without authentication", op.ID)
		if op.Method != http.MethodGet {
			g.Expect(rows[op.ID][1]).To(Equal(never), "%s changes something, and is not for watchers", op.ID)
		}
	}
	pages.Generated{Root: "../..", Page: "hub.md", Package: "./hub/rest", Update: *update}.Hold(t, "access-local", accessTable(operations, bearers, rows))
}
