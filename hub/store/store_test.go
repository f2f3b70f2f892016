package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m, func() error { return goleak.Find() }) }

// database is an implementation that keeps the contract.
type database struct {
	// open opens a store; the same one again for the same place.
	open func(ctx context.Context, place string) (store.Store, error)
	// fresh is a place without tables.
	fresh func(t *testing.T) (place string)
	// sql opens the place past the store.
	sql func(t *testing.T, place string) *sql.DB
}

var databases = map[string]database{
	"sqlite": {
		open:  store.OpenSQLite,
		fresh: func(t *testing.T) string { return filepath.Join(t.TempDir(), "hub db?.sqlite") },
		sql: func(t *testing.T, place string) *sql.DB {
			return raw(t, "sqlite", "file:"+strings.ReplaceAll(place, "?", "%3F"))
		},
	},
	"postgres": {
		open: func(ctx context.Context, place string) (store.Store, error) {
			return store.OpenPostgres(ctx, store.PostgresOptions{URL: place, PasswordFile: passwordFile})
		},
		fresh: func(t *testing.T) string {
			d := postgres.New(t)
			passwordFile = d.PasswordFile
			return d.URL
		},
		sql: func(t *testing.T, place string) *sql.DB {
			password, err := os.ReadFile(passwordFile)
			if err != nil {
				t.Fatal(err)
			}
			return raw(t, "pgx", place+"&password="+strings.TrimSpace(string(password)))
		},
	},
}

// passwordFile is that of the one server of all databases.
var passwordFile string

func raw(t *testing.T, driver, name string) *sql.DB {
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// opened is a fresh store.
func (d database) opened(t *testing.T) store.Store {
	return d.again(t, d.fresh(t))
}

// again opens a place; the store is closed with the test.
func (d database) again(t *testing.T, place string) store.Store {
	t.Helper()
	s, err := d.open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// eachDatabase runs the test on all of them.
func eachDatabase(t *testing.T, test func(t *testing.T, d database)) {
	for name, d := range databases {
		t.Run(name, func(t *testing.T) { test(t, d) })
	}
}

// contract are the cases that every store has to pass.
var contract = map[string]func(ctx context.Context, g *WithT, s store.Store){
	"a missing record is ErrNotFound":                                  missingRecords,
	"a host keeps its reports apart":                                   hostReports,
	"a unit is stored as a whole or not at all":                        wholeOrNothing,
	"who read an old version is told":                                  oldVersion,
	"what was only read must not have changed":                         readOnly,
	"a record in the place of another is another":                      replaced,
	"an infra-env with hosts stays":                                    infraEnvWithHosts,
	"hosts are found by MAC":                                           hostsByMAC,
	"check-ins move only the time, and only forward":                   checkIns,
	"hosts are filtered and paged":                                     hostFilter,
	"clusters and infra-envs are filtered and paged":                   otherFilters,
	"deleting a host takes everything but its events":                  deleteHost,
	"events are filtered, paged and counted":                           events,
	"events are numbered in order, and never anew":                     eventNumbers,
	"old events are removed, and the page behind another one is found": manyOldEvents,
	"texts that a database cannot hold are made so":                    hostileTexts,
	"readers see one state, and do not wait for writers":               readersDuringWrite,
	"changes are announced once they are stored":                       announcements,
	"deadlines are found without the records":                          deadlines,
	"a job is claimed by one, and ends once":                           jobs,
	"a lease is held by one":                                           leases,
	"files go with their cluster":                                      clusterFiles,
	"a report on connectivity that stays unread stays what it was":     unlinked,
}

func TestContract(t *testing.T) {
	eachDatabase(t, func(t *testing.T, d database) {
		for name, check := range contract {
			t.Run(name, func(t *testing.T) { check(t.Context(), NewWithT(t), d.opened(t)) })
		}
	})
}

var key = store.HostKey{InfraEnvID: "env-1", HostID: "host-1"}

func host(id string) *store.Host {
	h := &store.Host{MACs: []string{"02:00:00:00:00:01"}}
	h.API = wire.Host{ID: id, InfraEnvID: key.InfraEnvID, Status: wire.HostStatusKnown, Kind: wire.HostKindHost, Inventory: `{"hostname":"a"}`}
	return h
}

func put(ctx context.Context, g *WithT, s store.Store, hosts ...*store.Host) {
	g.ExpectWithOffset(1, s.Commit(ctx, &store.Unit{Hosts: hosts})).To(Succeed())
}

// read returns what the reader finds.
func read[T any](ctx context.Context, g *WithT, s store.Store, f func(*store.Reader) (T, error)) (out T) {
	g.ExpectWithOffset(1, s.View(ctx, func(r *store.Reader) (err error) {
		out, err = f(r)
		return err
	})).To(Succeed())
	return out
}

func readHost(ctx context.Context, g *WithT, s store.Store, key store.HostKey) *store.Host {
	return read(ctx, g, s, func(r *store.Reader) (*store.Host, error) { return r.Host(key) })
}

func readHosts(ctx context.Context, g *WithT, s store.Store, f store.HostFilter) (ids []string) {
	for _, h := range read(ctx, g, s, func(r *store.Reader) ([]*store.Host, error) { return r.Hosts(f) }) {
		ids = append(ids, h.API.ID)
		g.Expect(h.API.Inventory == "").To(Equal(f.Bare))
	}
	return ids
}

func readEvents(ctx context.Context, g *WithT, s store.Store, f store.EventFilter) []store.Event {
	return read(ctx, g, s, func(r *store.Reader) ([]store.Event, error) {
		found, _, err := r.Events(f)
		return found, err
	})
}

func missingRecords(ctx context.Context, g *WithT, s store.Store) {
	g.Expect(s.View(ctx, func(r *store.Reader) error {
		_, err := r.Host(key)
		g.Expect(err).To(MatchError(store.ErrNotFound))
		_, err = r.Cluster("c")
		g.Expect(err).To(MatchError(store.ErrNotFound))
		_, err = r.InfraEnv("e")
		g.Expect(err).To(MatchError(store.ErrNotFound))
		return nil
	})).To(Succeed())
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{host("host-1").Ref()}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{})).To(Succeed(), "nothing is easily stored")
}

func hostReports(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	full := readHost(ctx, g, s, key)
	g.Expect(full.API.Inventory).To(Equal(`{"hostname":"a"}`))
	g.Expect(full.MACs).To(ConsistOf("02:00:00:00:00:01"))
	g.Expect(readHosts(ctx, g, s, store.HostFilter{Bare: true})).To(ConsistOf("host-1"))

	full.API.Inventory = ""
	put(ctx, g, s, full)
	g.Expect(readHost(ctx, g, s, key).API.Inventory).To(BeEmpty(), "a cleared report must not come back")
	full.API.Inventory = "new"
	put(ctx, g, s, full)
	full.API.Inventory = ""
	put(ctx, g, s, full)
	g.Expect(readHost(ctx, g, s, key).API.Inventory).To(BeEmpty(), "nor when the same record is written again and again")
}

func wholeOrNothing(ctx context.Context, g *WithT, s store.Store) {
	old := host("host-1")
	put(ctx, g, s, old)
	stale := *old
	put(ctx, g, s, old)
	fresh := host("host-2")
	g.Expect(s.Commit(ctx, &store.Unit{
		Hosts: []*store.Host{fresh, &stale}, Events: []wire.Event{{Message: "m"}},
		Clusters: []*store.Cluster{{API: wire.Cluster{ID: "c"}}},
	})).To(MatchError(store.ErrConflict))
	g.Expect(readHosts(ctx, g, s, store.HostFilter{})).To(ConsistOf("host-1"))
	g.Expect(readEvents(ctx, g, s, store.EventFilter{})).To(BeEmpty())
	g.Expect(fresh.Version).To(BeZero(), "what was not stored has no version")
}

func oldVersion(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	mine, theirs := readHost(ctx, g, s, key), readHost(ctx, g, s, key)
	theirs.API.StatusInfo = "theirs"
	put(ctx, g, s, theirs)
	put(ctx, g, s, theirs) // with the version that it has by now
	mine.API.StatusInfo = "mine"
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{mine}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{mine.Ref()}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{host("host-1")}})).To(MatchError(store.ErrConflict), "it is there already")
	g.Expect(readHost(ctx, g, s, key).API.StatusInfo).To(Equal("theirs"))
}

func readOnly(ctx context.Context, g *WithT, s store.Store) {
	c, e, h := &store.Cluster{API: wire.Cluster{ID: "c"}}, &store.InfraEnv{API: wire.InfraEnv{ID: "e"}}, host("host-1")
	g.Expect(s.Commit(ctx, &store.Unit{Clusters: []*store.Cluster{c}, InfraEnvs: []*store.InfraEnv{e}, Hosts: []*store.Host{h}})).To(Succeed())
	current := []store.Ref{c.Ref(), e.Ref(), h.Ref(), {Kind: store.KindCluster, ID: "not there"}}
	event := []wire.Event{{Message: "m"}}
	g.Expect(s.Commit(ctx, &store.Unit{Read: current, Events: event})).To(Succeed())
	for i, r := range current {
		r.Version++
		g.Expect(s.Commit(ctx, &store.Unit{Read: []store.Ref{r}, Events: event})).To(MatchError(store.ErrConflict), "%d", i)
	}
	g.Expect(s.Commit(ctx, &store.Unit{Read: []store.Ref{h.Ref()}, Hosts: []*store.Host{h}})).To(Succeed(), "a record that is read and written counts once")
}

func replaced(ctx context.Context, g *WithT, s store.Store) {
	first := host("host-1")
	put(ctx, g, s, first)
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{first.Ref()}})).To(Succeed())
	put(ctx, g, s, host("host-1"))
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{first}})).To(MatchError(store.ErrConflict))
}

func infraEnvWithHosts(ctx context.Context, g *WithT, s store.Store) {
	env := &store.InfraEnv{API: wire.InfraEnv{ID: key.InfraEnvID}}
	g.Expect(s.Commit(ctx, &store.Unit{InfraEnvs: []*store.InfraEnv{env}})).To(Succeed())
	h := host("host-1")
	put(ctx, g, s, h)
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{env.Ref()}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{h.Ref()}})).To(Succeed())
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{env.Ref()}})).To(Succeed())
}

func hostsByMAC(ctx context.Context, g *WithT, s store.Store) {
	first, second, another := host("host-1"), host("host-2"), host("host-3")
	another.API.InfraEnvID = "env-2"
	put(ctx, g, s, second, first, another)
	filter := store.HostFilter{InfraEnvID: key.InfraEnvID, MAC: "02:00:00:00:00:01"}
	g.Expect(readHosts(ctx, g, s, filter)).To(Equal([]string{"host-1", "host-2"}), "those of the infra-env")
	second.MACs = []string{"02:00:00:00:00:02", "02:00:00:00:00:03"}
	put(ctx, g, s, second)
	g.Expect(readHosts(ctx, g, s, filter)).To(Equal([]string{"host-1"}))
}

func checkIns(ctx context.Context, g *WithT, s store.Store) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 123456000, time.UTC)
	put(ctx, g, s, host("host-1"))
	for _, tc := range []struct {
		at        time.Time
		clock     int64
		wantAt    time.Time
		wantClock int64
	}{
		{at, 77, at, 77},
		{at.Add(-time.Second), 99, at, 77},
		{at.Add(time.Second), 0, at.Add(time.Second), 77},
	} {
		g.Expect(s.Commit(ctx, &store.Unit{CheckIns: []store.CheckIn{
			{Host: key, At: tc.at, Clock: tc.clock}, {Host: store.HostKey{InfraEnvID: "e", HostID: "unknown"}, At: tc.at},
		}})).To(Succeed())
		h := readHost(ctx, g, s, key)
		g.Expect(h.API.CheckedInAt.Time).To(Equal(tc.wantAt))
		g.Expect(h.API.Timestamp).To(Equal(tc.wantClock))
		g.Expect(h.API.Inventory).NotTo(BeEmpty())
		h.API.CheckedInAt = wire.At(at.Add(-time.Hour))
		put(ctx, g, s, h) // whoever writes the record knows less of its check-ins
	}
	many := make([]store.CheckIn, 1203)
	for i := range many {
		many[i] = store.CheckIn{Host: store.HostKey{InfraEnvID: key.InfraEnvID, HostID: fmt.Sprintf("host-%d", i)}, At: at.Add(time.Minute), Clock: int64(i)}
	}
	g.Expect(s.Commit(ctx, &store.Unit{CheckIns: many})).To(Succeed())
	g.Expect(readHost(ctx, g, s, key).API.Timestamp).To(Equal(int64(1)))
}

func hostFilter(ctx context.Context, g *WithT, s store.Store) {
	bound, other := host("host-1"), host("host-2")
	cluster := "cluster-1"
	bound.API.ClusterID, bound.API.Status = &cluster, wire.HostStatusInstalling
	other.API.InfraEnvID = "env-2"
	bound.API.CheckedInAt, other.API.CheckedInAt = wire.At(time.Unix(1000, 0)), wire.At(time.Unix(2000, 0))
	put(ctx, g, s, bound, other)
	for _, tc := range []struct {
		filter store.HostFilter
		want   []string
	}{
		{store.HostFilter{}, []string{"host-1", "host-2"}},
		{store.HostFilter{InfraEnvID: "env-2"}, []string{"host-2"}},
		{store.HostFilter{ClusterID: "cluster-1", Bare: true}, []string{"host-1"}},
		{store.HostFilter{Statuses: []string{wire.HostStatusKnown}}, []string{"host-2"}},
		{store.HostFilter{ClusterID: "cluster-9"}, nil},
		{store.HostFilter{Limit: 1}, []string{"host-1"}},
		{store.HostFilter{Limit: 1, After: bound.Key()}, []string{"host-2"}},
		{store.HostFilter{After: other.Key()}, nil},
	} {
		g.Expect(readHosts(ctx, g, s, tc.filter)).To(Equal(tc.want), "%+v", tc.filter)
	}
	var many []*store.Host
	for i := range 230 { // more than one page of reports
		many = append(many, host(fmt.Sprintf("many-%03d", i)))
	}
	put(ctx, g, s, many...)
	g.Expect(readHosts(ctx, g, s, store.HostFilter{InfraEnvID: key.InfraEnvID})).To(HaveLen(231))
}

func otherFilters(ctx context.Context, g *WithT, s store.Store) {
	u := &store.Unit{}
	for i, status := range []string{wire.ClusterStatusReady, wire.ClusterStatusError, wire.ClusterStatusReady} {
		id := fmt.Sprintf("c%d", i)
		u.Clusters = append(u.Clusters, &store.Cluster{Masters: 1, API: wire.Cluster{ID: id, Status: status, Hosts: []wire.Host{{ID: "h"}}}})
		u.InfraEnvs = append(u.InfraEnvs, &store.InfraEnv{PullSecret: "{}", API: wire.InfraEnv{ID: "e" + id, ClusterID: id}})
	}
	g.Expect(s.Commit(ctx, u)).To(Succeed())
	for _, tc := range []struct {
		filter store.ClusterFilter
		want   []string
	}{
		{store.ClusterFilter{}, []string{"c0", "c1", "c2"}},
		{store.ClusterFilter{Statuses: []string{wire.ClusterStatusReady}}, []string{"c0", "c2"}},
		{store.ClusterFilter{After: "c0", Limit: 1}, []string{"c1"}},
	} {
		var ids []string
		for _, c := range read(ctx, g, s, func(r *store.Reader) ([]*store.Cluster, error) { return r.Clusters(tc.filter) }) {
			ids = append(ids, c.API.ID)
			g.Expect(c.API.Hosts).To(BeEmpty())
		}
		g.Expect(ids).To(Equal(tc.want), "%+v", tc.filter)
	}
	for _, tc := range []struct {
		filter store.InfraEnvFilter
		want   []string
	}{
		{store.InfraEnvFilter{}, []string{"ec0", "ec1", "ec2"}},
		{store.InfraEnvFilter{ClusterID: "c1"}, []string{"ec1"}},
		{store.InfraEnvFilter{After: "ec0", Limit: 1}, []string{"ec1"}},
	} {
		var ids []string
		for _, e := range read(ctx, g, s, func(r *store.Reader) ([]*store.InfraEnv, error) { return r.InfraEnvs(tc.filter) }) {
			ids = append(ids, e.API.ID)
		}
		g.Expect(ids).To(Equal(tc.want), "%+v", tc.filter)
	}
}

func deleteHost(ctx context.Context, g *WithT, s store.Store) {
	h := host("host-1")
	put(ctx, g, s, h)
	g.Expect(s.Commit(ctx, &store.Unit{
		Events: []wire.Event{{InfraEnvID: &key.InfraEnvID, HostID: &key.HostID, Message: "removed"}}, Gone: []store.Ref{h.Ref()},
	})).To(Succeed())
	g.Expect(readHosts(ctx, g, s, store.HostFilter{})).To(BeEmpty())
	g.Expect(readEvents(ctx, g, s, store.EventFilter{HostIDs: []string{"host-1"}})).To(HaveLen(1))
	bare := host("host-1")
	bare.API.Inventory, bare.MACs = "", nil
	put(ctx, g, s, bare)
	back := readHost(ctx, g, s, key)
	g.Expect(back.API.Inventory).To(BeEmpty(), "nothing of the old one comes back")
	g.Expect(back.API.CheckedInAt.IsZero()).To(BeTrue())
	g.Expect(readHosts(ctx, g, s, store.HostFilter{MAC: "02:00:00:00:00:01"})).To(BeEmpty())
}

func events(ctx context.Context, g *WithT, s store.Store) {
	hostID := "host-1"
	g.Expect(s.Commit(ctx, &store.Unit{Events: []wire.Event{
		{Message: "Host registered", Severity: wire.EventSeverityInfo, HostID: &hostID},
		{Message: "100% slow ÄÖ", Severity: wire.EventSeverityWarning, HostID: &hostID},
		{Message: "Cluster made", Severity: wire.EventSeverityInfo},
	}})).To(Succeed())
	for _, tc := range []struct {
		filter store.EventFilter
		want   []string
		infos  int
	}{
		{store.EventFilter{}, []string{"Host registered", "100% slow ÄÖ", "Cluster made"}, 2},
		{store.EventFilter{Descending: true, Limit: 1}, []string{"Cluster made"}, 2},
		{store.EventFilter{Offset: 2}, []string{"Cluster made"}, 2},
		{store.EventFilter{HostIDs: []string{"host-1"}}, []string{"Host registered", "100% slow ÄÖ"}, 1},
		{store.EventFilter{ClusterLevel: true}, []string{"Cluster made"}, 1},
		{store.EventFilter{HostIDs: []string{"host-1"}, ClusterLevel: true, Severities: []string{wire.EventSeverityInfo}}, []string{"Host registered", "Cluster made"}, 2},
		{store.EventFilter{HostIDs: []string{"host-2"}, ClusterLevel: true}, []string{"Cluster made"}, 1},
		{store.EventFilter{DeletedHosts: true}, []string{"Host registered", "100% slow ÄÖ"}, 1},
		{store.EventFilter{Severities: []string{wire.EventSeverityWarning}}, []string{"100% slow ÄÖ"}, 0},
		{store.EventFilter{Message: "host REG"}, []string{"Host registered"}, 1},
		{store.EventFilter{Message: "0% s"}, []string{"100% slow ÄÖ"}, 0},
		{store.EventFilter{Message: "1%slow"}, nil, 0},
		{store.EventFilter{Message: "äö"}, []string{"100% slow ÄÖ"}, 0},
		{store.EventFilter{Message: "\x00"}, nil, 0},
	} {
		var got []string
		g.Expect(s.View(ctx, func(r *store.Reader) error {
			found, counts, err := r.Events(tc.filter)
			for _, e := range found {
				got = append(got, e.Message)
			}
			g.Expect(counts[wire.EventSeverityInfo]).To(Equal(tc.infos))
			return err
		})).To(Succeed())
		g.Expect(got).To(Equal(tc.want), "%+v", tc.filter)
	}
}

func eventNumbers(ctx context.Context, g *WithT, s store.Store) {
	for range 2 {
		g.Expect(s.Commit(ctx, &store.Unit{Events: []wire.Event{{Message: "a"}, {Message: "b"}}})).To(Succeed())
	}
	found := readEvents(ctx, g, s, store.EventFilter{})
	for i := range len(found) - 1 {
		g.Expect(found[i+1].Seq).To(BeNumerically(">", found[i].Seq))
	}
	g.Expect(s.Prune(ctx, time.Unix(1<<33, 0))).To(Succeed())
	g.Expect(readEvents(ctx, g, s, store.EventFilter{})).To(BeEmpty())
	g.Expect(s.Commit(ctx, &store.Unit{Events: []wire.Event{{Message: "c"}}})).To(Succeed())
	g.Expect(readEvents(ctx, g, s, store.EventFilter{})[0].Seq).To(BeNumerically(">", found[3].Seq))
}

// manyOldEvents are removed, however many there are, and no younger one is.
func manyOldEvents(ctx context.Context, g *WithT, s store.Store) {
	u := &store.Unit{Events: []wire.Event{{Message: "young", EventTime: wire.At(time.Unix(2000, 0))}}}
	for range 2100 {
		u.Events = append(u.Events, wire.Event{Message: "old", EventTime: wire.At(time.Unix(1000, 0))})
	}
	g.Expect(s.Commit(ctx, u)).To(Succeed())
	found := readEvents(ctx, g, s, store.EventFilter{Limit: 1, Beyond: readEvents(ctx, g, s, store.EventFilter{Limit: 3})[2].Seq})
	g.Expect(found).To(HaveLen(1))
	g.Expect(found[0].Seq).To(Equal(readEvents(ctx, g, s, store.EventFilter{Limit: 1, Offset: 3})[0].Seq))
	g.Expect(s.Prune(ctx, time.Unix(2000, 0))).To(Succeed())
	left := readEvents(ctx, g, s, store.EventFilter{})
	g.Expect(left).To(HaveLen(1))
	g.Expect(left[0].Message).To(Equal("young"))
}

func hostileTexts(ctx context.Context, g *WithT, s store.Store) {
	const nasty = "a\x00b\xff"
	h := host("host-1")
	h.API.StatusInfo, h.API.TangConnectivity, h.MACs = nasty, nasty, []string{nasty}
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{h}, Events: []wire.Event{{Message: nasty, Category: nasty, HostID: new(nasty)}}})).To(Succeed())
	g.Expect(readHost(ctx, g, s, key).API.TangConnectivity).To(Equal("a\uFFFDb\uFFFD"))
	g.Expect(readEvents(ctx, g, s, store.EventFilter{Message: nasty, Categories: []string{nasty}})).To(HaveLen(1))
	put(ctx, g, s, h)
}

func readersDuringWrite(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	g.Expect(s.View(ctx, func(r *store.Reader) error {
		before, err := r.Host(key)
		g.Expect(err).NotTo(HaveOccurred())
		changed := *before
		changed.API.Status = wire.HostStatusError
		put(ctx, g, s, &changed)
		after, err := r.Host(key)
		g.Expect(after.API.Status).To(Equal(wire.HostStatusKnown), "a reader sees one state")
		return err
	})).To(Succeed())
	g.Expect(readHost(ctx, g, s, key).API.Status).To(Equal(wire.HostStatusError))
}

func announcements(ctx context.Context, g *WithT, s store.Store) {
	var heard heard
	defer s.Watch(heard.note)()
	var changes []store.Change
	for i := range 300 { // more than fits into one notification
		changes = append(changes, store.Change{InfraEnvID: "11111111-1111-4111-8111-111111111111", HostID: fmt.Sprintf("%036d", i), What: store.ChangedHost})
	}
	stale := host("host-2")
	stale.Version = 1
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{stale}, Changes: []store.Change{{What: "never"}}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{host("host-1")}, Changes: changes})).To(Succeed())
	g.Eventually(heard.all).Should(Equal(changes), "in order, and nothing of what was not stored")
}

// heard collects announcements.
type heard struct {
	mu      sync.Mutex
	changes []store.Change
}

func (h *heard) note(changes []store.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changes = append(h.changes, changes...)
}

func (h *heard) all() []store.Change {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.changes)
}

// TestWatcherThatLeft hears nothing any more.
func TestWatcherThatLeft(t *testing.T) {
	g := NewWithT(t)
	s := databases["sqlite"].opened(t)
	var heard heard
	s.Watch(heard.note)()
	g.Expect(s.Commit(t.Context(), &store.Unit{Changes: []store.Change{{What: store.ChangedHost}}})).To(Succeed())
	g.Expect(heard.all()).To(BeEmpty())
}

// TestBusyDatabase: another program holds the database; the error says that it may pass.
func TestBusyDatabase(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "hub.sqlite")
	s := databases["sqlite"].again(t, path)
	g.Expect(s.Close()).To(Succeed())
	holder := raw(t, "sqlite", "file:"+path+"?_txlock=immediate")
	tx, err := holder.BeginTx(t.Context(), nil)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = tx.Rollback() }()
	_, err = raw(t, "sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(0)").BeginTx(t.Context(), nil)
	g.Expect(store.Unavailable(fmt.Errorf("store: begin: %w", err))).To(BeTrue(), "%v", err)
	g.Expect(store.Unavailable(errors.New("database is locked"))).To(BeFalse(), "only the driver's word counts")
}
