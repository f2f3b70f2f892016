package store_test

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

var dumpedAt = time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)

// placeOf is the place in the words of a dump.
func placeOf(name, place string) store.Place {
	if name == "postgres" {
		return store.Place{Postgres: store.PostgresOptions{URL: place, PasswordFile: passwordFile}}
	}
	return store.Place{SQLite: place}
}

func dump(t *testing.T, g *WithT, name, place string) string {
	var out bytes.Buffer
	_, err := store.Dump(t.Context(), placeOf(name, place), dumpedAt, &out)
	g.Expect(err).NotTo(HaveOccurred())
	return out.String()
}

// fill makes a store with a record of each kind, which stays open.
func fill(t *testing.T, g *WithT, d database, place string) store.Store {
	s := d.again(t, place)
	h := host("host-1")
	h.API.CheckedInAt.Time = dumpedAt
	cluster := &store.Cluster{API: wire.Cluster{ID: "c", Status: wire.ClusterStatusReady}}
	env := &store.InfraEnv{API: wire.InfraEnv{ID: "env-1", Name: "äöü 'quoted' \\ \n"}, TokenGeneration: 3}
	g.Expect(s.Commit(t.Context(), &store.Unit{
		InfraEnvs: []*store.InfraEnv{env}, Clusters: []*store.Cluster{cluster}, Hosts: []*store.Host{h, host("host-2")},
		Jobs:   []*store.Job{{ID: "job"}},
		Events: []wire.Event{{Message: "first"}, {Message: "second"}},
		Files:  []store.ClusterFile{{ClusterID: "c", Name: "manifests/a.yaml", Content: "a: b\n"}},
	})).To(Succeed())
	return s
}

// TestDumpAndLoad: what was copied is the same in the other store, whichever
// database it is, and work goes on there.
func TestDumpAndLoad(t *testing.T) {
	for from := range databases {
		for to := range databases {
			t.Run(from+" to "+to, func(t *testing.T) {
				g := NewWithT(t)
				old, fresh := databases[from].fresh(t), databases[to].fresh(t)
				fill(t, g, databases[from], old)
				copied := dump(t, g, from, old)
				rows, err := store.Load(t.Context(), placeOf(to, fresh), strings.NewReader(copied), nil)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(rows).To(Equal(store.Rows{
					"infra_envs": 1, "clusters": 1, "hosts": 2, "host_reports": 2, "host_macs": 2, "host_check_ins": 2, "events": 2, "jobs": 1, "cluster_files": 1,
				}))
				g.Expect(strings.Split(dump(t, g, to, fresh), "\n")).To(ConsistOf(strings.Split(copied, "\n")))

				s := databases[to].again(t, fresh)
				g.Expect(readHost(t.Context(), g, s, key).API.Inventory).To(Equal(`{"hostname":"a"}`))
				g.Expect(s.Commit(t.Context(), &store.Unit{Events: []wire.Event{{Message: "third"}}})).To(Succeed())
				g.Expect(readEvents(t.Context(), g, s, store.EventFilter{})).To(HaveLen(3))
			})
		}
	}
}

// TestLoadAnOlderDump: the tables are brought up to date.
func TestLoadAnOlderDump(t *testing.T) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			old, err := os.ReadFile("testdata/dump-1.jsonl")
			g.Expect(err).NotTo(HaveOccurred())
			place := d.fresh(t)
			_, err = store.Load(t.Context(), placeOf(name, place), bytes.NewReader(old), nil)
			g.Expect(err).NotTo(HaveOccurred())
			s := d.again(t, place)
			h := readHost(t.Context(), g, s, key)
			g.Expect(h.API.CheckedInAt.Time).To(Equal(time.UnixMicro(1777629600000000).UTC()))
			g.Expect(readEvents(t.Context(), g, s, store.EventFilter{Message: "registered"})).To(HaveLen(1))
		})
	}
}

// TestLoadRefuses: nothing of it is in the store then.
func TestLoadRefuses(t *testing.T) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			old := d.fresh(t)
			used := fill(t, g, d, old)
			whole := dump(t, g, name, old)
			lines := strings.SplitAfter(strings.TrimSpace(whole), "\n")
			for what, tc := range map[string]struct{ text, reason string }{
				"nothing":                 {"", "no backup of the hub"},
				"something else":          {`{"apiVersion":"v1"}`, "no backup of the hub"},
				"the beginning":           {strings.Join(lines[:4], ""), "ends too early"},
				"half a line":             {whole[:len(whole)/2], "ends too early"},
				"a line less":             {strings.Join(append(lines[:2:2], lines[3:]...), ""), "says"},
				"a table that is none":    {lines[0] + `{"table":"schema_version","row":{"version":9}}`, "schema_version"},
				"a column that is none":   {lines[0] + `{"table":"hosts","row":{"id) SELECT":"9"}}`, "cannot be one"},
				"that of a newer program": {strings.Replace(whole, `"tables":`, `"tables":99`, 1), "use the program of its time"},
			} {
				place := d.fresh(t)
				_, err := store.Load(t.Context(), placeOf(name, place), strings.NewReader(tc.text), nil)
				g.Expect(err).To(MatchError(ContainSubstring(tc.reason)), what)
				s := d.again(t, place)
				g.Expect(readHosts(t.Context(), g, s, store.HostFilter{})).To(BeEmpty(), what)
			}
			failing := d.fresh(t)
			_, err := store.Load(t.Context(), placeOf(name, failing), strings.NewReader(whole), func() error { return errors.New("the disk is full") })
			g.Expect(err).To(MatchError(ContainSubstring("the disk is full")))
			_, err = store.Load(t.Context(), placeOf(name, failing), strings.NewReader(whole), nil)
			g.Expect(err).NotTo(HaveOccurred(), "nothing was left of it")
			if name == "sqlite" {
				_, err = store.Load(t.Context(), placeOf(name, old), strings.NewReader(whole), nil)
				g.Expect(err).To(MatchError(ContainSubstring("another program uses it")))
			}
			g.Expect(used.Close()).To(Succeed())
			_, err = store.Load(t.Context(), placeOf(name, old), strings.NewReader(whole), nil)
			g.Expect(err).To(MatchError(ContainSubstring("1 rows of infra_envs already: stop the hub")))
		})
	}
}

func TestDumpWithoutAStore(t *testing.T) {
	g := NewWithT(t)
	_, err := store.Dump(t.Context(), store.Place{SQLite: t.TempDir() + "/typo.sqlite"}, dumpedAt, &bytes.Buffer{})
	g.Expect(err).To(MatchError(ContainSubstring("there is no store")))
	g.Expect(err).To(MatchError(ContainSubstring("typo.sqlite")))
}
