package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stores are the implementations that keep the contract.
var stores = map[string]func(t *testing.T) store.Store{
	"sqlite": func(t *testing.T) store.Store {
		s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub db?.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	},
}

// contract are the cases that every store has to pass.
var contract = map[string]func(ctx context.Context, g *WithT, s store.Store){
	"a missing record is ErrNotFound":                 missingRecords,
	"a host keeps its reports apart":                  hostReports,
	"a failed update leaves nothing behind":           failedUpdate,
	"hosts are found by MAC, newest first":            hostsByMAC,
	"a poll moves only the time":                      checkIn,
	"hosts are filtered":                              hostFilter,
	"deleting a host takes everything but its events": deleteHost,
	"clusters and infra-envs are replaced":            replaceRecords,
	"events are filtered, paged and counted":          events,
	"readers do not wait for a writer":                readersDuringWrite,
}

func TestContract(t *testing.T) {
	for storeName, open := range stores {
		for name, check := range contract {
			t.Run(storeName+"/"+name, func(t *testing.T) {
				check(t.Context(), NewWithT(t), open(t))
			})
		}
	}
}

var key = store.HostKey{InfraEnvID: "env-1", HostID: "host-1"}

func host(id string) *store.Host {
	h := &store.Host{MACs: []string{"02:00:00:00:00:01"}}
	h.API = wire.Host{ID: id, InfraEnvID: key.InfraEnvID, Status: wire.HostStatusKnown, Kind: wire.HostKindHost, Inventory: `{"hostname":"a"}`}
	return h
}

func put(ctx context.Context, g *WithT, s store.Store, hosts ...*store.Host) {
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		for _, h := range hosts {
			if err := tx.PutHost(h); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
}

func missingRecords(ctx context.Context, g *WithT, s store.Store) {
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Host(key)
		g.Expect(err).To(MatchError(store.ErrNotFound))
		_, err = tx.Cluster("c")
		g.Expect(err).To(MatchError(store.ErrNotFound))
		_, err = tx.InfraEnv("e")
		g.Expect(err).To(MatchError(store.ErrNotFound))
		return tx.DeleteHost(key)
	})).To(Succeed())
}

func hostReports(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		bare, err := tx.BareHost(key)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(bare.API.Inventory).To(BeEmpty())
		full, err := tx.Host(key)
		g.Expect(full.API.Inventory).To(Equal(`{"hostname":"a"}`))
		g.Expect(full.MACs).To(ConsistOf("02:00:00:00:00:01"))
		return err
	})).To(Succeed())

	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		h, err := tx.Host(key)
		h.API.Inventory = ""
		return errors.Join(err, tx.PutHost(h))
	})).To(Succeed())
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		full, err := tx.Host(key)
		g.Expect(full.API.Inventory).To(BeEmpty(), "a cleared report must not come back")
		return err
	})).To(Succeed())
}

func failedUpdate(ctx context.Context, g *WithT, s store.Store) {
	boom := errors.New("boom")
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		g.Expect(tx.PutHost(host("host-1"))).To(Succeed())
		return boom
	})).To(MatchError(boom))
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Host(key)
		return err
	})).To(MatchError(store.ErrNotFound))
}

func hostsByMAC(ctx context.Context, g *WithT, s store.Store) {
	first, second, another := host("host-1"), host("host-2"), host("host-3")
	another.API.InfraEnvID = "env-2"
	put(ctx, g, s, second, first, another)
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		keys, err := tx.HostsByMAC(key.InfraEnvID, "02:00:00:00:00:01")
		g.Expect(keys).To(Equal([]store.HostKey{first.Key(), second.Key()}), "those of the infra-env")
		return err
	})).To(Succeed())
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		h, err := tx.BareHost(second.Key())
		h.MACs = []string{"02:00:00:00:00:02", "02:00:00:00:00:03"}
		return errors.Join(err, tx.PutHost(h))
	})).To(Succeed())
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		keys, err := tx.HostsByMAC(key.InfraEnvID, "02:00:00:00:00:01")
		g.Expect(keys).To(Equal([]store.HostKey{first.Key()}))
		return err
	})).To(Succeed())
}

func checkIn(ctx context.Context, g *WithT, s store.Store) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 123456000, time.UTC)
	put(ctx, g, s, host("host-1"))
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		h, err := tx.BareHost(key)
		h.API.CheckedInAt = wire.At(at)
		return errors.Join(err, tx.PutHost(h))
	})).To(Succeed())
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		h, err := tx.Host(key)
		g.Expect(h.API.CheckedInAt.Time).To(Equal(at))
		g.Expect(h.API.Inventory).NotTo(BeEmpty())
		return err
	})).To(Succeed())
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
		{store.HostFilter{SilentSince: time.Unix(1500, 0)}, []string{"host-1"}},
	} {
		var got []string
		g.Expect(s.View(ctx, func(tx *store.Tx) error {
			hosts, err := tx.Hosts(tc.filter)
			for _, h := range hosts {
				got = append(got, h.API.ID)
				g.Expect(h.API.Inventory == "").To(Equal(tc.filter.Bare))
			}
			return err
		})).To(Succeed())
		g.Expect(got).To(Equal(tc.want), "%+v", tc.filter)
	}
}

func deleteHost(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.AddEvent(wire.Event{InfraEnvID: &key.InfraEnvID, HostID: &key.HostID, Message: "registered"})
		return errors.Join(err, tx.DeleteHost(key))
	})).To(Succeed())
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		keys, err := tx.HostsByMAC(key.InfraEnvID, "02:00:00:00:00:01")
		g.Expect(keys).To(BeEmpty())
		events, _, err2 := tx.Events(store.EventFilter{HostIDs: []string{"host-1"}})
		g.Expect(events).To(HaveLen(1))
		return errors.Join(err, err2)
	})).To(Succeed())
}

func replaceRecords(ctx context.Context, g *WithT, s store.Store) {
	for _, name := range []string{"first", "second"} {
		g.Expect(s.Update(ctx, func(tx *store.Tx) error {
			return errors.Join(
				tx.PutCluster(&store.Cluster{API: wire.Cluster{ID: "c", Name: name, Hosts: []wire.Host{{ID: "h"}}}, Masters: 1}),
				tx.PutInfraEnv(&store.InfraEnv{API: wire.InfraEnv{ID: "e", Name: name, ClusterID: "c"}, PullSecret: "{}"}))
		})).To(Succeed())
	}
	g.Expect(s.View(ctx, func(tx *store.Tx) error {
		clusters, err := tx.Clusters()
		g.Expect(clusters).To(HaveLen(1))
		g.Expect(clusters[0].API.Name).To(Equal("second"))
		g.Expect(clusters[0].API.Hosts).To(BeEmpty())
		envs, err2 := tx.InfraEnvs("c")
		g.Expect(envs).To(HaveLen(1))
		g.Expect(envs[0].API.Name).To(Equal("second"))
		none, err3 := tx.InfraEnvs("d")
		g.Expect(none).To(BeEmpty())
		return errors.Join(err, err2, err3)
	})).To(Succeed())
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.DeleteCluster("c"), tx.DeleteInfraEnv("e"), tx.DeleteCluster("c"))
	})).To(Succeed())
}

func events(ctx context.Context, g *WithT, s store.Store) {
	hostID := "host-1"
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		for _, e := range []wire.Event{
			{Message: "Host registered", Severity: wire.EventSeverityInfo, HostID: &hostID},
			{Message: "100% slow", Severity: wire.EventSeverityWarning, HostID: &hostID},
			{Message: "Cluster made", Severity: wire.EventSeverityInfo},
		} {
			if _, err := tx.AddEvent(e); err != nil {
				return err
			}
		}
		return nil
	})).To(Succeed())
	for _, tc := range []struct {
		filter store.EventFilter
		want   []string
		infos  int
	}{
		{store.EventFilter{}, []string{"Host registered", "100% slow", "Cluster made"}, 2},
		{store.EventFilter{Descending: true, Limit: 1}, []string{"Cluster made"}, 2},
		{store.EventFilter{Offset: 2}, []string{"Cluster made"}, 2},
		{store.EventFilter{HostIDs: []string{"host-1"}}, []string{"Host registered", "100% slow"}, 1},
		{store.EventFilter{ClusterLevel: true}, []string{"Cluster made"}, 1},
		{store.EventFilter{Severities: []string{wire.EventSeverityWarning}}, []string{"100% slow"}, 0},
		{store.EventFilter{Message: "host REG"}, []string{"Host registered"}, 1},
		{store.EventFilter{Message: "0% s"}, []string{"100% slow"}, 0},
		{store.EventFilter{Message: "1%slow"}, nil, 0},
	} {
		var got []string
		g.Expect(s.View(ctx, func(tx *store.Tx) error {
			found, counts, err := tx.Events(tc.filter)
			for _, e := range found {
				got = append(got, e.Message)
			}
			g.Expect(counts[wire.EventSeverityInfo]).To(Equal(tc.infos))
			return err
		})).To(Succeed())
		g.Expect(got).To(Equal(tc.want), "%+v", tc.filter)
	}
}

func readersDuringWrite(ctx context.Context, g *WithT, s store.Store) {
	put(ctx, g, s, host("host-1"))
	g.Expect(s.Update(ctx, func(tx *store.Tx) error {
		changed := host("host-1")
		changed.API.Status = wire.HostStatusError
		if err := tx.PutHost(changed); err != nil {
			return err
		}
		return s.View(ctx, func(reader *store.Tx) error {
			h, err := reader.Host(key)
			g.Expect(h.API.Status).To(Equal(wire.HostStatusKnown), "a reader must not see what is not committed")
			return err
		})
	})).To(Succeed())
}

func TestReopenedDatabaseKeepsItsRecords(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "hub.sqlite")
	for range 2 {
		s, err := store.OpenSQLite(t.Context(), path)
		g.Expect(err).NotTo(HaveOccurred())
		put(t.Context(), g, s, host("host-1"))
		g.Expect(s.Close()).To(Succeed())
	}
	s, err := store.OpenSQLite(t.Context(), path)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = s.Close() })
	g.Expect(s.View(t.Context(), func(tx *store.Tx) error {
		hosts, err := tx.Hosts(store.HostFilter{})
		g.Expect(hosts).To(HaveLen(1))
		return err
	})).To(Succeed())
}

// TestBusyDatabase: another program holds the database; the error says that it may pass.
func TestBusyDatabase(t *testing.T) {
	g := NewWithT(t)
	path := filepath.Join(t.TempDir(), "hub.sqlite")
	s, err := store.OpenSQLite(t.Context(), path)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = s.Close() }()
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_pragma=busy_timeout(0)")
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { _ = other.Close() }()
	g.Expect(s.Update(t.Context(), func(*store.Tx) error {
		_, err := other.BeginTx(t.Context(), nil)
		g.Expect(store.Busy(fmt.Errorf("store: begin: %w", err))).To(BeTrue(), "%v", err)
		return nil
	})).To(Succeed())
	g.Expect(store.Busy(errors.New("database is locked"))).To(BeFalse(), "only the driver's word counts")
}
