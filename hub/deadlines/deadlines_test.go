package deadlines_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/deadlines"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const envID = "env"

// world is a store whose deadlines are kept, and who was looked at.
type world struct {
	*WithT
	t     *testing.T
	store store.Store
	begun time.Time

	mu    sync.Mutex
	heard map[store.HostKey]time.Time
	// looks are the ids that were looked at, with the second.
	looks []string
	// next is what a look finds; none by default.
	next store.Deadline
	fail error
	// away has the store refuse to be read.
	away atomic.Bool
}

// read is the store as the deadlines see it.
type read struct {
	store.Store
	w *world
}

func (r read) View(ctx context.Context, f func(*store.Reader) error) error {
	if r.w.away.Load() {
		return errors.New("the store is away")
	}
	return r.Store.View(ctx, f)
}

// inBubble keeps the deadlines of a fresh store while the test runs.
func inBubble(t *testing.T, prepare, test func(*world)) {
	synctest.Test(t, func(t *testing.T) {
		s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		w := &world{WithT: NewWithT(t), t: t, store: s, begun: time.Now(), heard: map[store.HostKey]time.Time{}}
		prepare(w)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() {
			deadlines.Run(ctx, deadlines.Options{Store: read{s, w}, Now: time.Now, Heard: w.lastHeard, Look: w.look, Grain: time.Second, Log: slog.New(slog.DiscardHandler)})
		})
		test(w)
		stop()
		running.Wait()
		w.Expect(s.Close()).To(Succeed())
	})
}

func (w *world) lastHeard(key store.HostKey) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard[key]
}

func (w *world) look(_ context.Context, ref store.Ref) (store.Deadline, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looks = append(w.looks, fmt.Sprintf("%s %.0fs", ref.ID, time.Since(w.begun).Seconds()))
	next := w.next
	next.Of = ref
	return next, w.fail
}

// seen returns who was looked at since the last time.
func (w *world) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := slices.Clone(w.looks)
	w.looks = nil
	return all
}

// host stores a host with a limit after so many seconds, or a patience; zero for none.
func (w *world) host(id string, due, patience time.Duration) *store.Host {
	h := &store.Host{Patience: patience, API: wire.Host{ID: id, InfraEnvID: envID, CheckedInAt: wire.At(time.Now())}}
	if due != 0 {
		h.Due = time.Now().Add(due)
	}
	w.put(h)
	return h
}

func (w *world) put(h *store.Host) {
	w.t.Helper()
	w.Expect(w.store.Commit(w.t.Context(), &store.Unit{
		Hosts: []*store.Host{h}, Changes: []store.Change{{InfraEnvID: envID, HostID: h.API.ID, What: store.ChangedHost}},
	})).To(Succeed())
}

func pass(d time.Duration) { <-time.After(d) }

// TestOnlyWhoIsDueIsLookedAt in a fleet that was there before the start.
func TestOnlyWhoIsDueIsLookedAt(t *testing.T) {
	inBubble(t, func(w *world) {
		for i := range 200 {
			w.host(fmt.Sprint("rest-", i), 0, 0)
		}
		w.host("late", 100*time.Second, 0)
		w.host("silent", 0, 50*time.Second)
		c := &store.Cluster{API: wire.Cluster{ID: "cluster"}, Due: time.Now().Add(70 * time.Second)}
		w.Expect(w.store.Commit(w.t.Context(), &store.Unit{Clusters: []*store.Cluster{c}})).To(Succeed())
	}, func(w *world) {
		pass(10 * time.Minute)
		w.Expect(w.seen()).To(Equal([]string{"silent 50s", "cluster 70s", "late 100s"}))
	})
}

// TestSignOfLifeMovesNothing: that a host was heard of is found when it would be due,
// whether this program has heard it or another one.
func TestSignOfLifeMovesNothing(t *testing.T) {
	inBubble(t, func(w *world) {
		w.host("here", 0, 3*time.Minute)
		w.host("elsewhere", 0, 3*time.Minute)
	}, func(w *world) {
		for range 10 {
			pass(time.Minute)
			w.mu.Lock()
			w.heard[store.HostKey{InfraEnvID: envID, HostID: "here"}] = time.Now()
			w.mu.Unlock()
			w.Expect(w.store.Commit(w.t.Context(), &store.Unit{CheckIns: []store.CheckIn{{Host: store.HostKey{InfraEnvID: envID, HostID: "elsewhere"}, At: time.Now()}}})).To(Succeed())
		}
		w.Expect(w.seen()).To(BeEmpty())
		pass(4 * time.Minute)
		w.Expect(w.seen()).To(ConsistOf("here 780s", "elsewhere 780s"))
	})
}

// TestDeadlinesFollowTheirRecords: one that is new, one that is changed, one that left,
// and all of them when nobody knows what was missed.
func TestDeadlinesFollowTheirRecords(t *testing.T) {
	inBubble(t, func(*world) {}, func(w *world) {
		pass(time.Minute)
		w.host("new", 30*time.Second, 0)
		left := w.host("left", 40*time.Second, 0)
		changed := w.host("changed", 50*time.Second, 0)
		pass(5 * time.Second)
		changed.Due = time.Time{}
		w.put(changed)
		w.Expect(w.store.Commit(w.t.Context(), &store.Unit{
			Gone: []store.Ref{left.Ref()}, Changes: []store.Change{{InfraEnvID: envID, HostID: "left", What: store.ChangedDeleted}},
		})).To(Succeed())
		pass(5 * time.Minute)
		w.Expect(w.seen()).To(Equal([]string{"new 90s"}))

		missed := &store.Host{Due: time.Now().Add(time.Minute), API: wire.Host{ID: "missed", InfraEnvID: envID}}
		w.Expect(w.store.Commit(w.t.Context(), &store.Unit{Hosts: []*store.Host{missed}, Changes: []store.Change{{What: store.ChangedAll}}})).To(Succeed())
		pass(62 * time.Second)
		w.Expect(w.seen()).To(HaveLen(2), "new is still over in its record, and is looked at again, too")
	})
}

// TestLookThatFails is repeated, and keeps nobody else waiting.
func TestLookThatFails(t *testing.T) {
	inBubble(t, func(w *world) {
		w.host("a", 10*time.Second, 0)
		w.host("b", 10*time.Second, 0)
		w.fail = errors.New("the store is away")
	}, func(w *world) {
		pass(12 * time.Second)
		w.Expect(w.seen()).To(HaveLen(2))
		w.mu.Lock()
		w.fail = nil
		w.mu.Unlock()
		pass(10 * time.Second)
		w.Expect(w.seen()).To(HaveLen(2))
		pass(10 * time.Minute)
		w.Expect(w.seen()).To(BeEmpty())
	})
}

// TestStoreThatIsAwayWhenSomebodyIsDue: nobody says when it is back.
func TestStoreThatIsAwayWhenSomebodyIsDue(t *testing.T) {
	inBubble(t, func(w *world) {
		w.host("a", 10*time.Second, 0)
	}, func(w *world) {
		pass(5 * time.Second)
		w.away.Store(true)
		pass(30 * time.Second)
		w.Expect(w.seen()).To(BeEmpty())
		w.away.Store(false)
		pass(10 * time.Second)
		w.Expect(w.seen()).To(HaveLen(1))
		pass(10 * time.Minute)
		w.Expect(w.seen()).To(BeEmpty())
	})
}

// TestLimitThatStaysOver: a host that a look does not move is not looked at all the time.
func TestLimitThatStaysOver(t *testing.T) {
	inBubble(t, func(w *world) {
		w.host("a", 10*time.Second, 0)
		w.next.Due = time.Now()
	}, func(w *world) {
		pass(90 * time.Second)
		w.Expect(len(w.seen())).To(BeNumerically("~", 10, 1), "every 8 seconds")
	})
}
