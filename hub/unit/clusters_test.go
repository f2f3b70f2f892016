package unit

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// open makes a store with two clusters.
func open(t *testing.T) (*WithT, *Units) {
	g := NewWithT(t)
	s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { g.Expect(s.Close()).To(Succeed()) })
	g.Expect(s.Commit(t.Context(), &store.Unit{Clusters: []*store.Cluster{{API: wire.Cluster{ID: "a"}}, {API: wire.Cluster{ID: "b"}}}})).To(Succeed())
	return g, &Units{Store: s, Log: slog.New(slog.DiscardHandler), Now: time.Now, Heard: func(*store.Host) {}, Changed: func([]store.Change) {}}
}

// left is how much the gate still knows of who has ended.
func (g *gate) left() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.working + len(g.waiting) + len(g.busy) + len(g.wanted)
}

// count adds one to a number in each of the clusters' records.
func count(ids ...string) func(*Work) error {
	return func(w *Work) error {
		for _, id := range ids {
			c, err := w.Cluster(id)
			if err != nil {
				return err
			}
			c.API.TotalHostCount++
			w.TouchCluster(c)
		}
		return nil
	}
}

func (u *Units) counted(ctx context.Context, g *WithT, id string) (n int64) {
	g.Expect(u.View(ctx, func(w *Work) error {
		c, err := w.Cluster(id)
		if err == nil {
			n = c.API.TotalHostCount
		}
		return err
	})).To(Succeed())
	return n
}

// TestWorkOnOneClusterIsNotDoneInVain: many calls for the same cluster at the same
// time do their work once, and a second time at most when another one ended between
// their first look and their turn.
func TestWorkOnOneClusterIsNotDoneInVain(t *testing.T) {
	g, u := open(t)
	const calls = 60
	var works atomic.Int64
	var all sync.WaitGroup
	failures := make(chan error, calls)
	for range calls {
		all.Go(func() {
			failures <- u.Update(t.Context(), func(w *Work) error {
				if err := count("a")(w); err != nil {
					return err
				}
				works.Add(1)
				return nil
			})
		})
	}
	all.Wait()
	close(failures)
	for err := range failures {
		g.Expect(err).NotTo(HaveOccurred())
	}
	g.Expect(u.counted(t.Context(), g, "a")).To(Equal(int64(calls)))
	g.Expect(works.Load()).To(BeNumerically("<=", 2*calls))
	g.Expect(u.gate.left()).To(BeZero(), "nothing is left behind")
}

// TestWorkOnSeveralClusters: units that take the same clusters in another order do not wait for each other.
func TestWorkOnSeveralClusters(t *testing.T) {
	g, u := open(t)
	var all sync.WaitGroup
	for i := range 40 {
		all.Go(func() {
			ids := [][]string{{"a", "b"}, {"b", "a"}, {"a"}, {"b"}}[i%4]
			if err := u.Update(t.Context(), count(ids...)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	g.Expect(u.counted(t.Context(), g, "a")).To(Equal(int64(30)))
	g.Expect(u.counted(t.Context(), g, "b")).To(Equal(int64(30)))
	g.Expect(u.gate.left()).To(BeZero())
}

// TestWhoGivesUpHoldsNobodyUp, also for a cluster.
func TestWhoGivesUpHoldsNobodyUp(t *testing.T) {
	g, u := open(t)
	working, goOn := make(chan struct{}), make(chan struct{})
	first := make(chan error)
	go func() {
		first <- u.Update(t.Context(), func(w *Work) error {
			if err := count("a")(w); err != nil {
				return err
			}
			close(working)
			<-goOn
			return nil
		})
	}()
	<-working
	ctx, cancel := context.WithCancel(t.Context())
	second := make(chan error)
	go func() { second <- u.Update(ctx, count("a")) }()
	g.Expect(u.Update(t.Context(), count("b"))).To(Succeed(), "another cluster is free")
	cancel()
	g.Expect(<-second).To(MatchError(context.Canceled))
	close(goOn)
	g.Expect(<-first).To(Succeed())
	g.Expect(u.Update(t.Context(), count("a"))).To(Succeed())
	g.Expect(u.counted(t.Context(), g, "a")).To(Equal(int64(2)))
	g.Expect(u.gate.left()).To(BeZero())
}

// lasting is work that takes a while.
func lasting(takes time.Duration, f func(*Work) error) func(*Work) error {
	return func(w *Work) error {
		if err := f(w); err != nil {
			return err
		}
		return taking(takes)(w)
	}
}

// TestUnitsOfClustersComeInTheirOrder: whoever had to wait for its cluster comes before all that came later, whatever these
// work on. Otherwise the many hosts of a large cluster wait behind those of many small ones, however long they have waited.
func TestUnitsOfClustersComeInTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		const calls, takes = 80, time.Second
		ended := make([]time.Duration, calls)
		begin := time.Now()
		var all sync.WaitGroup
		for i := range calls {
			all.Go(func() {
				ids := [][]string{{"a"}, {}, {"b"}, {}}[i%4]
				g.Expect(u.Update(t.Context(), lasting(takes, count(ids...)))).To(Succeed())
				ended[i] = time.Since(begin)
			})
			synctest.Wait()
		}
		all.Wait()
		for i, at := range ended {
			g.Expect(at).To(BeNumerically("~", time.Duration(i/atOnce)*takes+takes, 2*takes), "unit %d", i)
		}
		g.Expect(u.gate.left()).To(BeZero())
	})
}

// TestAUnitOfTwoClustersHasItsTurn, although one of them is worked on at each moment.
func TestAUnitOfTwoClustersHasItsTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		const takes = time.Second
		var others sync.WaitGroup
		other := func(id string) {
			others.Go(func() { g.Expect(u.Update(t.Context(), lasting(takes, count(id)))).To(Succeed()) })
			<-time.After(takes / 2)
		}
		other("a")
		other("b")
		ended, begin := make(chan time.Duration, 1), time.Now()
		go func() {
			g.Expect(u.Update(t.Context(), lasting(takes, count("b", "a")))).To(Succeed())
			ended <- time.Since(begin)
		}()
		for range 10 {
			other("a")
			other("b")
		}
		g.Expect(<-ended).To(BeNumerically("<=", 4*takes))
		others.Wait()
		g.Expect(u.gate.left()).To(BeZero())
	})
}
