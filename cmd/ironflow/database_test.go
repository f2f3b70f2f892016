package main

import (
	"log/slog"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m) }

// TestReplicasShareTheDatabase: what one program stores, another one finds.
func TestReplicasShareTheDatabase(t *testing.T) {
	g := NewWithT(t)
	db := postgres.New(t)
	const id = "11111111-1111-4111-8111-111111111111"
	replica := func() *hubParts {
		s := defaults(t.TempDir())
		s.database, s.databasePasswordFile = db.URL, db.PasswordFile
		h, err := newHub(t.Context(), s, pki.Files{}, nil, nil, slog.New(slog.DiscardHandler))
		g.Expect(err).NotTo(HaveOccurred())
		t.Cleanup(func() { _, _ = h.store.Close(), h.files.Close() })
		return h
	}
	one, other := replica(), replica()
	_, err := one.core.EnsureInfraEnv(t.Context(), service.InfraEnvSpec{ID: id, Name: "site"})
	g.Expect(err).NotTo(HaveOccurred())
	env, err := other.core.InfraEnv(t.Context(), id)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(env.Name).To(Equal("site"))
}
