package store_test

import (
	"context"
	"database/sql"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestReopenedDatabaseKeepsItsRecords(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database) {
		g := NewWithT(t)
		place := d.fresh(t)
		for _, id := range []string{"host-1", "host-2"} {
			s, err := d.open(t.Context(), place)
			g.Expect(err).NotTo(HaveOccurred())
			put(t.Context(), g, s, host(id))
			g.Expect(s.Close()).To(Succeed())
		}
		g.Expect(readHosts(t.Context(), g, d.again(t, place), store.HostFilter{})).To(ConsistOf("host-1", "host-2"))
	})
}

// TestUpgrade: a database with the tables of the first version.
func TestUpgrade(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database) {
		g := NewWithT(t)
		place := d.fresh(t)
		at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
		db := d.sql(t, place)
		first, err := os.ReadFile("migrations/0001_records.sql")
		g.Expect(err).NotTo(HaveOccurred())
		run(t, db, strings.Split(string(first), ";")...)
		run(
			t, db, `CREATE TABLE schema_version (version BIGINT PRIMARY KEY)`, `INSERT INTO schema_version VALUES (1)`,
			`INSERT INTO infra_envs VALUES ('env-1', '', '{"API":{"id":"env-1","name":"old"},"TokenGeneration":3}')`,
			`INSERT INTO clusters VALUES ('c', 'ready', '{"API":{"id":"c","status":"ready"}}')`,
			`INSERT INTO hosts VALUES ('env-1', 'host-1', 'c', 'known', 1777629600000000, '{"API":{"id":"host-1","infra_env_id":"env-1","cluster_id":"c","status":"known"},"Approved":true}')`,
			`INSERT INTO host_reports VALUES ('env-1', 'host-1', 'inventory', '{"hostname":"a"}')`,
			`INSERT INTO host_macs VALUES ('env-1', 'host-1', '02:00:00:00:00:01')`,
			`INSERT INTO events VALUES (7, '', 'host-1', 'env-1', 'info', 'user', 'Host Registered', 0, '{"message":"Host Registered"}')`)
		g.Expect(db.Close()).To(Succeed())

		deadlinesLeft := 2 // of a host and a cluster
		for range 2 {      // the second time there is nothing to do
			s, err := d.open(t.Context(), place)
			g.Expect(err).NotTo(HaveOccurred())
			due := read(t.Context(), g, s, (*store.Reader).Deadlines)
			g.Expect(due).To(HaveLen(deadlinesLeft), "nobody has computed them yet: all are looked at")
			deadlinesLeft = 0
			h := readHost(t.Context(), g, s, key)
			h.Due = time.Time{}
			g.Expect(h.Approved).To(BeTrue())
			g.Expect(h.API.Inventory).To(Equal(`{"hostname":"a"}`))
			g.Expect(h.API.CheckedInAt.Time).To(Equal(at))
			put(t.Context(), g, s, h)
			c := read(t.Context(), g, s, func(r *store.Reader) (*store.Cluster, error) { return r.Cluster("c") })
			c.Due = time.Time{}
			g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{c}, Events: []wire.Event{{Message: "next"}}})).To(Succeed())
			env := read(t.Context(), g, s, func(r *store.Reader) (*store.InfraEnv, error) { return r.InfraEnv("env-1") })
			g.Expect(env.TokenGeneration).To(Equal(int64(3)))
			g.Expect(readEvents(t.Context(), g, s, store.EventFilter{Message: "registered"})).To(HaveLen(1))
			g.Expect(readEvents(t.Context(), g, s, store.EventFilter{Message: "next", Descending: true})[0].Seq).To(BeNumerically(">", 7))
			g.Expect(s.Close()).To(Succeed())
		}
	})
}

// TestDowngrade: tables of a newer program are left alone.
func TestDowngrade(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database) {
		g := NewWithT(t)
		place := d.fresh(t)
		s, err := d.open(t.Context(), place)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(s.Close()).To(Succeed())
		run(t, d.sql(t, place), `INSERT INTO schema_version VALUES (999)`)
		_, err = d.open(t.Context(), place)
		g.Expect(err).To(MatchError(ContainSubstring("version 999, this program knows")))
		g.Expect(err).To(MatchError(ContainSubstring("start the newer program, or restore a backup")))
	})
}

// TestUpgradeThatFails leaves the tables as they were.
func TestUpgradeThatFails(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database) {
		g := NewWithT(t)
		place := d.fresh(t)
		db := d.sql(t, place)
		run(t, db, `CREATE TABLE host_check_ins (something TEXT)`) // in the way of the second step
		_, err := d.open(t.Context(), place)
		g.Expect(err).To(MatchError(ContainSubstring("0002_versions.sql")))
		run(t, db, `DROP TABLE host_check_ins`)
		d.again(t, place)
	})
}

// TestReplicasThatStartTogether: one of them makes the tables, the others wait.
func TestReplicasThatStartTogether(t *testing.T) {
	g := NewWithT(t)
	d := databases["postgres"]
	place := d.fresh(t)
	var all sync.WaitGroup
	failures := make([]error, 4)
	for i := range failures {
		all.Go(func() {
			s, err := d.open(context.WithoutCancel(t.Context()), place)
			if err == nil {
				err = s.Close()
			}
			failures[i] = err
		})
	}
	all.Wait()
	g.Expect(failures).To(HaveEach(BeNil()))
}

func run(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, statement := range statements {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
}
