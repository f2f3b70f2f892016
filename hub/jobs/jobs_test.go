package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
	"go.uber.org/goleak"

	"github.com/ironflow/ironflow/hub/jobs"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/postgres"
)

func TestMain(m *testing.M) { postgres.Main(m, func() error { return goleak.Find() }) }

// open opens a place as often as there are programs.
type open func(t *testing.T) func() store.Store

var databases = map[string]open{
	"sqlite": func(t *testing.T) func() store.Store {
		s, err := store.OpenSQLite(t.Context(), filepath.Join(t.TempDir(), "hub.sqlite"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return func() store.Store { return s }
	},
	"postgres": func(t *testing.T) func() store.Store {
		db := postgres.New(t)
		return func() store.Store {
			s, err := store.OpenPostgres(t.Context(), store.PostgresOptions{URL: db.URL, PasswordFile: db.PasswordFile})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return s
		}
	},
}

// world are the jobs of one store; each outcome is an event.
type world struct {
	*WithT
	t *testing.T

	mu    sync.Mutex
	begun []string
	do    func(context.Context, store.Job) (any, error)
}

// program does jobs over s under a lease until it is ended. One that is cut off has no
// lease any more, and goes on with what it does.
func (w *world) program(s store.Store, name string) (end, cutOff func()) {
	lease := &store.Lease{Name: "member/" + name, Holder: name}
	w.Expect(s.Commit(w.t.Context(), &store.Unit{Leases: []*store.Lease{lease}})).To(Succeed())
	ctx, cancel := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		jobs.Run(ctx, jobs.Options{
			Store: s, Holder: name, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Kinds: map[string]jobs.Kind{"k": {Do: func(ctx context.Context, j store.Job) (any, error) {
				w.mu.Lock()
				w.begun = append(w.begun, name+" "+j.Subject)
				w.mu.Unlock()
				return w.do(ctx, j)
			}, End: func(ctx context.Context, j store.Job, outcome any, failure error) error {
				return s.Commit(ctx, &store.Unit{Gone: []store.Ref{j.Ref()}, Events: []wire.Event{{Message: fmt.Sprint(j.Subject, " ", outcome, " ", failure)}}})
			}}},
		})
	})
	gone := store.Unit{Gone: []store.Ref{lease.Ref()}, Changes: []store.Change{{What: store.ChangedJob}}}
	cutOff = sync.OnceFunc(func() { w.Expect(s.Commit(w.t.Context(), &gone)).To(Succeed()) })
	return sync.OnceFunc(func() {
		cancel()
		running.Wait()
		cutOff()
	}), cutOff
}

func (w *world) add(s store.Store, subject string) *store.Job {
	w.t.Helper()
	j := &store.Job{ID: "k/" + subject, Kind: "k", Subject: subject, NotBefore: time.Now()}
	w.Expect(s.Commit(w.t.Context(), &store.Unit{Jobs: []*store.Job{j}, Changes: []store.Change{{What: store.ChangedJob}}})).To(Succeed())
	return j
}

func (w *world) outcomes(s store.Store) (all []string) {
	w.Expect(s.View(w.t.Context(), func(r *store.Reader) error {
		events, _, err := r.Events(store.EventFilter{})
		for _, e := range events {
			all = append(all, e.Message)
		}
		return err
	})).To(Succeed())
	return all
}

func (w *world) attempts() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.begun...)
}

func pass(d time.Duration) { <-time.After(d) }

// TestEachOutcomeOnce: two programs, many jobs.
func TestEachOutcomeOnce(t *testing.T) {
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			again := open(t)
			s, other := again(), again()
			w := &world{WithT: NewWithT(t), t: t, do: func(context.Context, store.Job) (any, error) { return "fine", nil }}
			var want []string
			for i := range 40 {
				w.add(s, fmt.Sprint(i))
				want = append(want, fmt.Sprint(i, " fine <nil>"))
			}
			endA, _ := w.program(s, "a")
			defer endA()
			endB, _ := w.program(other, "b")
			defer endB()
			w.Eventually(func() []string { return w.outcomes(s) }, time.Minute).Should(ConsistOf(want))
			w.Expect(w.attempts()).To(HaveLen(40), "nobody did what another one does")
		})
	}
}

// TestProgramThatIsCutOff: another one does its job; the outcome of the first one, which
// comes late, is none.
func TestProgramThatIsCutOff(t *testing.T) {
	for name, open := range databases {
		t.Run(name, func(t *testing.T) {
			again := open(t)
			s, other := again(), again()
			late := make(chan struct{})
			w := &world{WithT: NewWithT(t), t: t}
			w.do = func(context.Context, store.Job) (any, error) {
				if len(w.attempts()) == 1 {
					<-late // it does not even hear that its work was called off
				}
				return len(w.attempts()), nil
			}
			endA, cutOff := w.program(s, "a")
			defer endA()
			w.add(s, "x")
			w.Eventually(w.attempts, time.Minute).Should(Equal([]string{"a x"}))
			cutOff()
			endB, _ := w.program(other, "b")
			defer endB()
			hear := sync.OnceFunc(func() { close(late) })
			defer hear() // also where something was not as expected
			// The one that is cut off may begin it again before the other one, which takes it away again.
			once := HaveExactElements(MatchRegexp(`^x [23] <nil>$`))
			w.Eventually(func() []string { return w.outcomes(s) }, time.Minute).Should(once)
			hear()
			endA()
			w.Expect(w.outcomes(s)).To(once)
		})
	}
}

// TestFailedJob is done again after growing pauses, and given up after so many attempts.
func TestFailedJob(t *testing.T) {
	for name, tc := range map[string]struct {
		failures int
		want     string
	}{
		"in the end it works": {5, "x fine <nil>"},
		"it never does":       {1000, "x <nil> the registry is away"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := databases["sqlite"](t)()
				w := &world{WithT: NewWithT(t), t: t}
				var at []time.Duration
				begun := time.Now()
				w.do = func(context.Context, store.Job) (any, error) {
					at = append(at, time.Since(begun).Round(time.Second))
					if len(at) <= tc.failures {
						return nil, errors.New("the registry is away")
					}
					return "fine", nil
				}
				end, _ := w.program(s, "a")
				w.add(s, "x")
				pass(30 * time.Minute)
				end()
				w.Expect(w.outcomes(s)).To(Equal([]string{tc.want}))
				w.Expect(len(at)).To(Equal(min(tc.failures+1, jobs.MaxAttempts)))
				for i := 2; i < len(at); i++ {
					w.Expect(at[i]-at[i-1]).To(BeNumerically(">=", at[i-1]-at[i-2]), "%v", at)
				}
			})
		})
	}
}

// TestJobThatKillsItsProgram is given up as well.
func TestJobThatKillsItsProgram(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := databases["sqlite"](t)()
		w := &world{WithT: NewWithT(t), t: t, do: func(ctx context.Context, _ store.Job) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		w.add(s, "x")
		for i := range jobs.MaxAttempts + 1 {
			end, _ := w.program(s, fmt.Sprint(i))
			pass(time.Minute)
			end()
		}
		w.Expect(w.attempts()).To(HaveLen(jobs.MaxAttempts))
		w.Expect(w.outcomes(s)).To(Equal([]string{"x <nil> " + jobs.ErrGivenUp.Error()}))
	})
}

// TestCalledOff: who removes the job ends the work.
func TestCalledOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := databases["sqlite"](t)()
		ended := make(chan error, 1)
		w := &world{WithT: NewWithT(t), t: t, do: func(ctx context.Context, _ store.Job) (any, error) {
			<-ctx.Done()
			ended <- ctx.Err()
			return "too late", nil
		}}
		end, _ := w.program(s, "a")
		defer end()
		w.add(s, "x")
		synctest.Wait()
		var held []*store.Job
		w.Expect(s.View(t.Context(), func(r *store.Reader) (err error) {
			held, err = r.JobsOf("a")
			return err
		})).To(Succeed())
		w.Expect(held).To(HaveLen(1))
		w.Expect(s.Commit(t.Context(), &store.Unit{Gone: []store.Ref{held[0].Ref()}, Changes: []store.Change{{What: store.ChangedJob}}})).To(Succeed())
		w.Expect(<-ended).To(MatchError(context.Canceled))
		w.Expect(w.outcomes(s)).To(BeEmpty())
	})
}
