package client_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

func TestRateIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		var at []time.Duration
		start := time.Now()
		f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
			at = append(at, time.Since(start))
			body(w, http.StatusOK, `{}`)
		}
		it := inside(t, f, client.Options{}) // the defaults: 2 a second after 5 at once
		var wait sync.WaitGroup
		for range 10 {
			wait.Go(func() {
				if err := it.Get(t.Context(), system, &struct{}{}); err != nil {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		// The root and the login are two of the five.
		want := []time.Duration{0, 0, 0}
		for i := range 7 {
			want = append(want, time.Duration(i+1)*500*time.Millisecond)
		}
		g.Expect(at).To(Equal(want))
	})
}

func TestConcurrencyIsKeptAndChangesAreMadeOneByOne(t *testing.T) {
	for _, concurrency := range []int{1, 3} {
		t.Run(fmt.Sprint(concurrency), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				var changes, most atomic.Int64
				f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
					if r.Method != http.MethodGet {
						if n := changes.Add(1); n > most.Load() {
							most.Store(n)
						}
						defer changes.Add(-1)
					}
					elapse(time.Second)
					body(w, http.StatusOK, `{}`)
				}
				options := quick()
				options.Concurrency = concurrency
				it := inside(t, f, options)
				var wait sync.WaitGroup
				try := func(do func() error) {
					wait.Go(func() {
						if err := do(); err != nil {
							t.Error(err)
						}
					})
				}
				for range 5 {
					try(func() error { return it.Get(t.Context(), system, &struct{}{}) })
					try(func() error { _, err := it.Patch(t.Context(), system, map[string]string{}); return err })
					try(func() error { _, err := it.Post(t.Context(), system, nil); return err })
					try(func() error { _, err := it.Delete(t.Context(), system); return err })
				}
				wait.Wait()
				g.Expect(f.most).To(Equal(concurrency))
				g.Expect(most.Load()).To(BeEquivalentTo(1))
			})
		})
	}
}

func TestSilentBMC(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		silent := false
		hang := func(w http.ResponseWriter, r *http.Request) {
			if silent {
				<-r.Context().Done()
				return
			}
			body(w, http.StatusOK, plainRoot)
		}
		f.paths[system], f.free["/redfish/v1/"] = hang, hang
		it := inside(t, f, quick())
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		f.requests()
		silent = true
		start := time.Now()
		for range 3 {
			g.Expect(client.KindOf(it.Get(t.Context(), system, &struct{}{}))).To(Equal(client.Unreachable))
		}
		g.Expect(time.Since(start)).To(Equal(90*time.Second), "a deadline of 30 s each")
		g.Expect(f.requests()).To(HaveLen(3))

		// From now on the root alone, ever more rarely.
		var roots []time.Duration
		open := time.Now()
		for time.Since(open) < 30*time.Minute {
			before := time.Now()
			err := it.Get(t.Context(), system, &struct{}{})
			g.Expect(client.KindOf(err)).To(Equal(client.Unreachable))
			asked := f.requests()
			if len(asked) > 0 {
				g.Expect(asked).To(Equal([]string{"GET /redfish/v1/"}))
				roots = append(roots, before.Sub(open))
			} else {
				g.Expect(time.Now()).To(Equal(before), "it does not wait while nothing is asked")
			}
			elapse(time.Second)
		}
		g.Expect(len(roots)).To(BeNumerically("~", 10, 2), "%v", roots)
		g.Expect(roots[0]).To(BeNumerically(">=", 5*time.Second))
		for i := 2; i < len(roots); i++ {
			g.Expect(roots[i] - roots[i-1]).To(BeNumerically(">=", min(roots[i-1]-roots[i-2], 5*time.Minute)-time.Minute))
		}

		silent = false
		elapse(10 * time.Minute)
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
		g.Expect(f.requests()).To(Equal([]string{"GET /redfish/v1/", "GET " + system, "GET " + system}))
	})
}

func TestCallersTimeEndsTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.paths[system] = answers(http.StatusInternalServerError, message("IDRAC.2.8.SYS518", "The data sources are unavailable."))
		it := inside(t, f, client.Options{Rate: 0.1, Burst: 3})
		ctx, cancel := contextFor(t, 2*time.Second)
		defer cancel()
		start := time.Now()
		g.Expect(client.KindOf(it.Get(ctx, system, &struct{}{}))).To(Equal(client.Busy))
		g.Expect(time.Since(start)).To(Equal(2 * time.Second))
		// Nor does it wait in line for longer.
		next, stop := contextFor(t, 3*time.Second)
		defer stop()
		err := it.Get(next, system, &struct{}{})
		g.Expect(client.KindOf(err)).To(Equal(client.Busy))
		g.Expect(time.Since(start)).To(Equal(5 * time.Second))
		asked := f.requests()
		g.Expect(slices.DeleteFunc(asked, func(s string) bool { return !strings.HasSuffix(s, system) })).To(HaveLen(1))
	})
}

func TestSilentBMCWithManyInLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.paths[system] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
		it := inside(t, f, quick())
		g.Expect(it.Get(t.Context(), sessions, &struct{}{})).To(Succeed())
		f.requests()
		var wait sync.WaitGroup
		start := time.Now()
		for range 50 {
			wait.Go(func() {
				if err := it.Get(t.Context(), system, &struct{}{}); client.KindOf(err) != client.Unreachable {
					t.Error(err)
				}
			})
		}
		wait.Wait()
		g.Expect(f.requests()).To(HaveLen(3))
		g.Expect(time.Since(start)).To(Equal(90 * time.Second))
	})
}

func TestCallersThatDoNotWait(t *testing.T) {
	cases := map[string]struct {
		time  time.Duration
		asked int // of the system
	}{
		"for long": {time.Second, 6},
		"at last":  {15 * time.Second, 3},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				f.paths[system] = func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }
				it := inside(t, f, quick())
				g.Expect(it.Get(t.Context(), sessions, &struct{}{})).To(Succeed())
				f.requests()
				for range 6 {
					ctx, cancel := contextFor(t, c.time)
					g.Expect(client.KindOf(it.Get(ctx, system, &struct{}{}))).To(Equal(client.Unreachable))
					cancel()
				}
				g.Expect(f.requests()).To(HaveLen(c.asked), "a BMC that is silent for 10 s, three times, is left alone")
			})
		})
	}
}

func TestLoginThatFailsIsNotRepeatedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		f.login = says(http.StatusInternalServerError, "")
		it := inside(t, f, quick())
		for range 30 {
			err := it.Get(t.Context(), system, &struct{}{})
			g.Expect(client.KindOf(err)).To(Equal(client.Failed))
			elapse(10 * time.Second)
		}
		g.Expect(logins(f)).To(Equal(5), "once a minute: who knows what this BMC counts")
		f.login = nil
		elapse(time.Minute)
		g.Expect(it.Get(t.Context(), system, &struct{}{})).To(Succeed())
	})
}
