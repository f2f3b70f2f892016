package leases_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/leases"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m, func() error { return goleak.Find() }) }

// shared is what programs have in common, and what a test sees of them.
type shared struct {
	*WithT
	t     *testing.T
	store store.Store

	mu      sync.Mutex
	leaders []string
	alive   map[string]bool
	lost    map[string]int
	back    int
	// most is how many led at the same time.
	most int
}

func over(t *testing.T, s store.Store) *shared {
	return &shared{WithT: NewWithT(t), t: t, store: s, alive: map[string]bool{}, lost: map[string]int{}}
}

func onSQLite(t *testing.T) *shared {
	s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return over(t, s)
}

// broken is a store that can be cut off from a program.
type broken struct {
	store.Store
	mu  sync.Mutex
	err error
}

func (b *broken) cut(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func (b *broken) Commit(ctx context.Context, u *store.Unit) error {
	b.mu.Lock()
	err := b.err
	b.mu.Unlock()
	if err != nil {
		return err
	}
	return b.Store.Commit(ctx, u)
}

// program takes part under a name of the test until it is ended, or its store is cut off.
func (s *shared) program(name string, renewal time.Duration) (end func(), link *broken) {
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	link = &broken{Store: s.store}
	note := func(ctx context.Context, on, off func()) {
		s.mu.Lock()
		on()
		s.most = max(s.most, len(s.leaders))
		s.mu.Unlock()
		<-ctx.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		off()
	}
	o := leases.Options{
		Store: link, Now: time.Now, Renewal: renewal, Log: slog.New(slog.DiscardHandler),
		Member: func(ctx context.Context, _ string) {
			note(ctx, func() { s.alive[name] = true }, func() { delete(s.alive, name) })
		},
		Leader: func(ctx context.Context) {
			note(ctx, func() { s.leaders = append(s.leaders, name) }, func() {
				for i, l := range s.leaders {
					if l == name {
						s.leaders = append(s.leaders[:i:i], s.leaders[i+1:]...)
						return
					}
				}
			})
		},
		Lost: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.lost[name]++
		},
		Back: func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.back++
		},
	}
	go func() {
		defer close(done)
		leases.Run(ctx, o)
	}()
	return sync.OnceFunc(func() {
		cancel()
		<-done
	}), link
}

func (s *shared) leader() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.leaders) != 1 {
		return ""
	}
	return s.leaders[0]
}

func (s *shared) members() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.alive)
}

func (s *shared) losses(name string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost[name]
}

func pass(d time.Duration) { <-time.After(d) }

// TestOneLeads: the first one leads at once, others wait, and one that is ended hands
// over with the next renewal.
func TestOneLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onSQLite(t)
		endA, _ := s.program("a", 0)
		synctest.Wait()
		s.Expect(s.leader()).To(Equal("a"), "nobody has to wait who is alone")
		endB, _ := s.program("b", 0)
		defer endB()
		pass(time.Minute)
		s.Expect(s.leader()).To(Equal("a"))
		s.Expect(s.members()).To(Equal(2))
		s.Expect(s.losses("a") + s.losses("b")).To(BeZero())
		endA()
		s.Expect(s.leader()).To(BeEmpty())
		pass(leases.Renewal + time.Second)
		s.Expect(s.leader()).To(Equal("b"))
		s.Expect(s.losses("b")).NotTo(BeZero(), "what a had in memory is lost")
		s.Expect(s.most).To(Equal(1))
	})
}

// TestDeadLeader: a leader that cannot be heard of any more ends its own work before
// another one begins, and that is within 25 seconds.
func TestDeadLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onSQLite(t)
		endA, link := s.program("a", 0)
		defer endA()
		synctest.Wait()
		pass(2 * time.Second) // the programs do not tick together
		endB, _ := s.program("b", 0)
		defer endB()
		pass(time.Minute)
		link.cut(context.DeadlineExceeded)
		pass(5 * time.Second)
		s.Expect(s.leader()).To(Equal("a"), "one renewal that fails is no reason")
		pass(20 * time.Second)
		s.Expect(s.leader()).To(Equal("b"))
		s.Expect(s.members()).To(Equal(1))
		link.cut(nil)
		pass(20 * time.Second)
		s.Expect(s.members()).To(Equal(2), "it comes back, under another name")
		s.Expect(s.leader()).To(Equal("b"))
		s.Expect(s.most).To(Equal(1))
		s.Expect(s.losses("b")).NotTo(BeZero())
	})
}

// TestDatabaseThatIsAway: whoever is alone need not wait for its own earlier life.
func TestDatabaseThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onSQLite(t)
		end, link := s.program("a", 0)
		defer end()
		pass(time.Minute)
		link.cut(context.DeadlineExceeded)
		pass(time.Minute)
		s.Expect(s.leader()).To(BeEmpty(), "it cannot know whether another one leads by now")
		link.cut(nil)
		pass(6 * time.Second)
		s.Expect(s.leader()).To(Equal("a"))
		s.Expect(s.back).To(Equal(1), "it could hear nobody meanwhile")
	})
}

// TestDeadFollower: those who live learn that a replica has died, whoever leads.
func TestDeadFollower(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := onSQLite(t)
		endA, _ := s.program("a", 0)
		defer endA()
		synctest.Wait()
		endB, link := s.program("b", 0)
		defer endB()
		endC, _ := s.program("c", 0)
		defer endC()
		pass(time.Minute)
		link.cut(context.DeadlineExceeded)
		pass(25 * time.Second)
		s.Expect(s.losses("a")).NotTo(BeZero())
		s.Expect(s.losses("c")).NotTo(BeZero())
		s.Expect(s.leader()).To(Equal("a"))
		var left []*store.Lease
		s.Expect(s.store.View(t.Context(), func(r *store.Reader) (err error) {
			left, err = r.Leases()
			return err
		})).To(Succeed())
		s.Expect(left).To(HaveLen(3), "two members and the timers: what the dead one held is free")
	})
}

// TestReplicas is the same on PostgreSQL, in real time.
func TestReplicas(t *testing.T) {
	db := postgres.New(t)
	open := func() store.Store {
		r, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = r.Close() })
		return r
	}
	s := over(t, open())
	const renewal = 2 * time.Second
	endA, link := s.program("a", renewal)
	defer endA()
	s.Eventually(s.leader, time.Minute).Should(Equal("a"))
	s.store = open()
	endB, _ := s.program("b", renewal)
	defer endB()
	s.Eventually(s.members, time.Minute).Should(Equal(2))
	link.cut(context.DeadlineExceeded)
	s.Eventually(s.leader, time.Minute).Should(Equal("b"))
	link.cut(nil)
	s.Eventually(s.members, time.Minute).Should(Equal(2))
}
