package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func deadlines(ctx context.Context, g *WithT, s store.Store) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	quiet, silent, due := host("quiet"), host("silent"), host("due")
	silent.Patience, silent.API.CheckedInAt = 3*time.Minute, wire.At(at)
	due.Due = at.Add(time.Hour)
	c := &store.Cluster{API: wire.Cluster{ID: "c"}, Due: at.Add(time.Minute)}
	calm := &store.Cluster{API: wire.Cluster{ID: "calm"}}
	g.Expect(s.Commit(ctx, &store.Unit{Hosts: []*store.Host{quiet, silent, due}, Clusters: []*store.Cluster{c, calm}})).To(Succeed())
	of := func(kind store.Kind, id string) store.Ref {
		if kind == store.KindHost {
			return store.Ref{Kind: kind, InfraEnvID: key.InfraEnvID, ID: id}
		}
		return store.Ref{Kind: kind, ID: id}
	}
	want := []store.Deadline{
		{Of: of(store.KindHost, "silent"), Patience: 3 * time.Minute, Heard: at},
		{Of: of(store.KindHost, "due"), Due: at.Add(time.Hour)},
		{Of: of(store.KindCluster, "c"), Due: at.Add(time.Minute)},
	}
	g.Expect(read(ctx, g, s, (*store.Reader).Deadlines)).To(ConsistOf(want))

	refs := []store.Ref{of(store.KindHost, "gone"), of(store.KindCluster, "gone"), want[0].Of, of(store.KindHost, "quiet"), of(store.KindCluster, "calm")}
	for i := range 1100 { // more than fit into one statement
		refs = append(refs, of(store.KindHost, fmt.Sprint(i)))
	}
	refs = append(refs, want[2].Of)
	found := read(ctx, g, s, func(r *store.Reader) ([]store.Deadline, error) { return r.DeadlinesOf(refs) })
	g.Expect(found).To(ConsistOf(want[0], want[2], store.Deadline{Of: of(store.KindHost, "quiet")}, store.Deadline{Of: of(store.KindCluster, "calm")}))

	again := readHost(ctx, g, s, store.HostKey{InfraEnvID: key.InfraEnvID, HostID: "due"})
	put(ctx, g, s, again)
	g.Expect(read(ctx, g, s, (*store.Reader).Deadlines)).To(ConsistOf(want), "writing a record does not lose its deadline")
	again.Due, again.Patience = at, time.Minute
	put(ctx, g, s, again)
	g.Expect(read(ctx, g, s, func(r *store.Reader) ([]store.Deadline, error) { return r.DeadlinesOf([]store.Ref{want[1].Of}) })).
		To(ConsistOf(store.Deadline{Of: want[1].Of, Due: at, Patience: time.Minute}))
}

func jobs(ctx context.Context, g *WithT, s store.Store) {
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	waiting := func() []*store.Job {
		return read(ctx, g, s, func(r *store.Reader) ([]*store.Job, error) { return r.WaitingJobs(10) })
	}
	later := &store.Job{ID: "k/later", Kind: "k", Subject: "later", NotBefore: at.Add(time.Minute)}
	now := &store.Job{ID: "k/now", Kind: "k", Subject: "now", NotBefore: at, Reason: "a\x00b"}
	g.Expect(s.Commit(ctx, &store.Unit{Jobs: []*store.Job{later, now}})).To(Succeed())
	g.Expect(s.Commit(ctx, &store.Unit{Jobs: []*store.Job{{ID: "k/now"}}})).To(MatchError(store.ErrConflict), "there is one of it at a time")
	found := waiting()
	g.Expect(found).To(HaveLen(2))
	g.Expect(*found[0]).To(Equal(store.Job{Version: now.Version, ID: "k/now", Kind: "k", Subject: "now", NotBefore: at, Reason: "a\uFFFDb"}))

	mine, theirs := found[0], waiting()[0]
	mine.Holder, theirs.Holder = "me", "them"
	g.Expect(s.Commit(ctx, &store.Unit{Jobs: []*store.Job{mine}})).To(Succeed())
	g.Expect(waiting()).To(HaveLen(2), "who has no lease is gone and does nothing")
	g.Expect(s.Commit(ctx, &store.Unit{Leases: []*store.Lease{{Name: "member/me", Holder: "me"}}})).To(Succeed())
	g.Expect(s.Commit(ctx, &store.Unit{Jobs: []*store.Job{theirs}})).To(MatchError(store.ErrConflict))
	g.Expect(waiting()).To(HaveLen(1))
	held := read(ctx, g, s, func(r *store.Reader) ([]*store.Job, error) { return r.JobsOf("me") })
	g.Expect(held).To(HaveLen(1))

	outcome := &store.Unit{Gone: []store.Ref{mine.Ref()}, Events: []wire.Event{{Message: "done"}}}
	g.Expect(s.Commit(ctx, outcome)).To(Succeed())
	g.Expect(s.Commit(ctx, outcome)).To(MatchError(store.ErrConflict), "once")
	g.Expect(readEvents(ctx, g, s, store.EventFilter{})).To(HaveLen(1))
	g.Expect(s.View(ctx, func(r *store.Reader) error {
		_, err := r.Job("k/now")
		return err
	})).To(MatchError(store.ErrNotFound))
	g.Expect(s.Commit(ctx, &store.Unit{Read: []store.Ref{later.Ref()}, Events: []wire.Event{{Message: "m"}}})).To(Succeed())
}

func leases(ctx context.Context, g *WithT, s store.Store) {
	mine, theirs := &store.Lease{Name: "timers", Holder: "me"}, &store.Lease{Name: "timers", Holder: "them"}
	g.Expect(s.Commit(ctx, &store.Unit{Leases: []*store.Lease{mine}})).To(Succeed())
	first := mine.Version
	g.Expect(s.Commit(ctx, &store.Unit{Leases: []*store.Lease{theirs}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Leases: []*store.Lease{mine}})).To(Succeed())
	g.Expect(mine.Version).NotTo(Equal(first), "a renewed lease has another version")
	found := read(ctx, g, s, (*store.Reader).Leases)
	g.Expect(found).To(HaveLen(1))
	g.Expect(*found[0]).To(Equal(*mine))
	found[0].Holder = "them"
	g.Expect(s.Commit(ctx, &store.Unit{Leases: found})).To(Succeed())
	g.Expect(s.Commit(ctx, &store.Unit{Leases: []*store.Lease{mine}})).To(MatchError(store.ErrConflict), "it was taken over")
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{mine.Ref()}})).To(MatchError(store.ErrConflict))
	g.Expect(s.Commit(ctx, &store.Unit{Gone: []store.Ref{found[0].Ref()}})).To(Succeed())
	g.Expect(read(ctx, g, s, (*store.Reader).Leases)).To(BeEmpty())
}

// TestFileIsOpenedByOneProgram: what a program held that was killed is free as soon
// as the file is opened again, and what waited still waits.
func TestFileIsOpenedByOneProgram(t *testing.T) {
	g := NewWithT(t)
	d := databases["sqlite"]
	place := d.fresh(t)
	s, err := d.open(t.Context(), place)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(s.Commit(t.Context(), &store.Unit{
		Leases: []*store.Lease{{Name: "timers", Holder: "killed"}}, Jobs: []*store.Job{{ID: "held", Holder: "killed"}, {ID: "waiting"}},
	})).To(Succeed())
	_, err = d.open(t.Context(), place)
	g.Expect(err).To(MatchError(ContainSubstring("another program uses it")), "changes are announced within a program")
	g.Expect(read(t.Context(), g, s, (*store.Reader).Leases)).To(HaveLen(1), "it took nothing away")
	g.Expect(s.Close()).To(Succeed())
	s = d.again(t, place)
	g.Expect(read(t.Context(), g, s, (*store.Reader).Leases)).To(BeEmpty())
	g.Expect(read(t.Context(), g, s, func(r *store.Reader) ([]*store.Job, error) { return r.WaitingJobs(10) })).To(HaveLen(2))
}

// TestFileIsReadBesideItsProgram: nothing is taken from that, and what it changes is heard.
func TestFileIsReadBesideItsProgram(t *testing.T) {
	g := NewWithT(t)
	d := databases["sqlite"]
	place := d.fresh(t)
	s := d.again(t, place)
	g.Expect(s.Commit(t.Context(), &store.Unit{Leases: []*store.Lease{{Name: "timers", Holder: "hub"}}})).To(Succeed())
	beside, err := store.OpenSQLiteBeside(t.Context(), place)
	g.Expect(err).NotTo(HaveOccurred())
	defer func() { g.Expect(beside.Close()).To(Succeed()) }()
	g.Expect(read(t.Context(), g, s, (*store.Reader).Leases)).To(HaveLen(1))
	var heard heard
	defer beside.Watch(heard.note)()
	for i := range 3 {
		was := len(heard.all())
		put(t.Context(), g, s, host(fmt.Sprint("host-", i)))
		g.Eventually(func() []store.Change { return heard.all()[was:] }, "20s").Should(ContainElement(store.Change{What: store.ChangedAll}))
		g.Expect(readHosts(t.Context(), g, beside, store.HostFilter{})).To(HaveLen(i + 1))
	}
}
