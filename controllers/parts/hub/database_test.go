package hub

import (
	"context"
	"log/slog"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// TestReplicasShareTheDatabase: what one program stores, another one finds.
func TestReplicasShareTheDatabase(t *testing.T) {
	g := NewWithT(t)
	db := postgres.New(t)
	const id = "11111111-1111-4111-8111-111111111111"
	replica := func() *Server {
		s := defaults(t.TempDir())
		s.Store.Database, s.Store.DatabasePasswordFile = db.URL, db.PasswordFile
		h, err := New(t.Context(), Options{Settings: s, Cert: pki.Files{}, Log: slog.New(slog.DiscardHandler)})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _, _ = h.store.Close(), h.files.Close() })
		return h
	}
	one, other := replica(), replica()
	_, err := one.Core.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: id, Name: "site"})
	g.Expect(err).NotTo(HaveOccurred())
	env, err := other.Core.InfraEnv(t.Context(), id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(env.Name).To(Equal("site"))
}

// TestPartsShareTheFile: the image server reads the hub's file beside it, and a token that
// the hub has revoked opens no image. A second hub is refused, as changes would not reach it.
func TestPartsShareTheFile(t *testing.T) {
	g := NewWithT(t)
	s := defaults(t.TempDir())
	s.Hub.Auth = "token"
	open := func(openRecords func(context.Context, v1alpha1.Store) (store.Store, error)) (*Server, error) {
		records, err := openRecords(t.Context(), s.Store)
		if err != nil {
			return nil, err
		}
		h, err := over(t.Context(), records, Options{Settings: s, Log: slog.New(slog.DiscardHandler)})
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _, _ = h.store.Close(), h.files.Close() })
		return h, nil
	}
	hub, err := open(configured.OpenStore)
	g.Expect(err).NotTo(HaveOccurred())
	images, err := open(configured.OpenStoreBeside)
	g.Expect(err).NotTo(HaveOccurred())
	const id = "11111111-1111-4111-8111-111111111111"
	_, err = hub.Core.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: id, Name: "site"})
	g.Expect(err).NotTo(HaveOccurred())
	token, err := hub.Core.AgentToken(t.Context(), id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(images.Core.CheckImageToken(t.Context(), token)).To(Equal(id))
	g.Expect(hub.Core.RevokeAgentTokens(t.Context(), id)).To(Succeed())
	g.Eventually(func() error {
		_, err := images.Core.CheckImageToken(t.Context(), token)
		return err
	}, "20s").Should(MatchError(auth.ErrInvalid))
	_, err = open(configured.OpenStore)
	g.Expect(err).To(MatchError(ContainSubstring("another program uses it")))
}
