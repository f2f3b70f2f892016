package store_test

import (
	"os"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/seal"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// stored is all that the database has on its disk of records with secrets.
var stored = map[string]func(t *testing.T, g *WithT, d database, place string) string{
	"sqlite": func(_ *testing.T, g *WithT, _ database, place string) string {
		var all strings.Builder
		for _, name := range []string{place, place + "-wal"} {
			raw, err := os.ReadFile(name)
			g.Expect(err).NotTo(HaveOccurred())
			all.Write(raw)
		}
		return all.String()
	},
	"postgres": func(t *testing.T, g *WithT, d database, place string) string {
		db := d.sql(t, place)
		run(t, db, `CHECKPOINT`)
		var clusters, environments []byte
		g.Expect(db.QueryRowContext(t.Context(), `SELECT pg_read_binary_file(pg_relation_filepath('clusters'))`).Scan(&clusters)).To(Succeed())
		g.Expect(db.QueryRowContext(t.Context(), `SELECT pg_read_binary_file(pg_relation_filepath('infra_envs'))`).Scan(&environments)).To(Succeed())
		return string(clusters) + string(environments)
	},
}

// TestNothingIsLeftOfWhatRecordsWere once the store was scrubbed: neither in the tables nor
// between their rows.
func TestNothingIsLeftOfWhatRecordsWere(t *testing.T) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			place := d.fresh(t)
			s, err := d.open(t.Context(), place)
			g.Expect(err).NotTo(HaveOccurred())
			t.Cleanup(func() { _ = s.Close() })
			c := &store.Cluster{API: wire.Cluster{ID: "c", Status: wire.ClusterStatusReady}}
			env := &store.InfraEnv{API: wire.InfraEnv{ID: "e"}}
			for _, secret := range []seal.Text{"hunter2-in-plain", "s1.sealed"} {
				c.PullSecret, env.PullSecret = secret, secret
				g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}, InfraEnvs: []*store.InfraEnv{env}})).To(Succeed())
				if secret.Plain() {
					g.Expect(stored[name](t, g, d, place)).To(ContainSubstring("hunter2-in-plain"), "this test can see it")
				}
			}
			g.Expect(s.Scrub(t.Context())).To(Succeed())
			g.Expect(stored[name](t, g, d, place)).NotTo(ContainSubstring("hunter2-in-plain"))
			g.Expect(read(t.Context(), g, s, func(r *store.Reader) (*store.Cluster, error) { return r.Cluster("c") }).PullSecret).To(BeEquivalentTo("s1.sealed"))
			g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}})).To(Succeed(), "the hub goes on")
		})
	}
}
