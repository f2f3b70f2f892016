package client_test

import (
	"fmt"
	"io"
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
				api, err := it.Gofish(t.Context())
				g.Expect(err).NotTo(HaveOccurred())
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
					try(func() error { return closing(api.Patch(system, map[string]string{})) })
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

func TestRetries(t *testing.T) {
	dell := message("IDRAC.2.8.SYS518", "The data sources are unavailable.")
	state := message("iLO.2.14.InvalidOperationForSystemState", "The operation was not successful due to the current power state.")
	const insert = "/redfish/v1/Managers/1/VirtualMedia/CD/Actions/VirtualMedia.InsertMedia"
	cases := map[string]struct {
		method, path string
		status       int
		answer       string
		header       string // Retry-After
		after        int    // refusals before it works; 0: for ever
		asked        int
		took         time.Duration
		kind         client.Kind
	}{
		"data sources that start":              {http.MethodGet, system, 500, dell, "", 2, 3, 10 * time.Second, ""},
		"data sources that start, a change":    {http.MethodPost, system, 500, dell, "", 2, 3, 10 * time.Second, ""},
		"data sources that never start":        {http.MethodPost, system, 503, dell, "", 0, 5, 20 * time.Second, client.Busy},
		"a system in transition":               {http.MethodPatch, system, 400, state, "", 1, 2, 5 * time.Second, ""},
		"a medium that is being ejected":       {http.MethodPost, insert, 500, "", "", 3, 4, 9 * time.Second, ""},
		"another action that fails":            {http.MethodPost, system + "/Actions/ComputerSystem.Reset", 500, "", "", 1, 1, 0, client.Failed},
		"a read that fails":                    {http.MethodGet, system, 500, "", "", 1, 1, 0, client.Failed},
		"a gateway":                            {http.MethodGet, system, 504, "", "", 1, 2, time.Second, ""},
		"busy":                                 {http.MethodGet, system, 503, "", "", 2, 3, 2 * time.Second, ""},
		"busy for longer":                      {http.MethodGet, system, 503, "", "", 0, 3, 2 * time.Second, client.Busy},
		"busy, a change":                       {http.MethodPost, system, 503, "", "2", 1, 1, 0, client.Busy},
		"busy, a deletion":                     {http.MethodDelete, system, 503, "", "2", 1, 2, 2 * time.Second, ""},
		"busy, and says how long":              {http.MethodGet, system, 429, "", "7", 1, 2, 7 * time.Second, ""},
		"busy, and says for very long":         {http.MethodGet, system, 503, "", "86400", 1, 1, 0, client.Busy},
		"busy, and says nonsense":              {http.MethodGet, system, 503, "", "-5", 1, 2, time.Second, ""},
		"busy until a date":                    {http.MethodGet, system, 503, "", "Sat, 01 Jan 2000 00:00:04 GMT", 1, 2, 4 * time.Second, ""},
		"something that is not there":          {http.MethodGet, system, 404, "", "", 1, 1, 0, client.NotSupported},
		"what is not known is not tried again": {http.MethodPatch, system, 400, message("Base.1.18.PropertyUnknown", "no"), "", 1, 1, 0, client.Refused},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, f := NewWithT(t), newFake()
				asked := 0
				f.paths[c.path] = func(w http.ResponseWriter, r *http.Request) {
					if asked++; c.after == 0 || asked <= c.after {
						if c.header != "" {
							w.Header().Set("Retry-After", c.header)
						}
						body(w, c.status, c.answer)
						return
					}
					body(w, http.StatusOK, `{}`)
				}
				it := inside(t, f, quick())
				start := time.Now()
				var err error
				switch c.method {
				case http.MethodGet:
					err = it.Get(t.Context(), c.path, &struct{}{})
				case http.MethodPost:
					_, err = it.Post(t.Context(), c.path, nil)
				case http.MethodPatch:
					_, err = it.Patch(t.Context(), c.path, map[string]int{})
				default:
					_, err = it.Delete(t.Context(), c.path)
				}
				g.Expect(client.KindOf(err)).To(Equal(c.kind), "%v", err)
				g.Expect(asked).To(Equal(c.asked))
				g.Expect(time.Since(start)).To(Equal(c.took))
			})
		})
	}
}

func TestBusyErrorSaysHowLong(t *testing.T) {
	g, f := NewWithT(t), newFake()
	f.paths[system] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "120")
		body(w, http.StatusServiceUnavailable, "")
	}
	it := newClient(t, serve(t, f), quick())
	err := it.Get(t.Context(), system, &struct{}{})
	g.Expect(err).To(HaveField("RetryAfter", 2*time.Minute))
}

func TestJobThatIsNotThereYet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		const job = "/redfish/v1/Managers/1/Jobs/JID_1"
		asked := 0
		f.paths[job] = func(w http.ResponseWriter, _ *http.Request) {
			if asked++; asked < 3 {
				body(w, http.StatusNotFound, "")
				return
			}
			body(w, http.StatusOK, `{}`)
		}
		f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Location", "http://"+r.Host+job)
			body(w, http.StatusAccepted, "")
		}
		it := inside(t, f, quick())
		answer, err := it.Post(t.Context(), system, nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.Location()).To(Equal(job))
		start := time.Now()
		g.Expect(it.Get(t.Context(), answer.Location(), &struct{}{})).To(Succeed())
		g.Expect(time.Since(start)).To(Equal(20 * time.Second))
		g.Expect(client.KindOf(it.Get(t.Context(), "/redfish/v1/Managers/1/Jobs/JID_2", &struct{}{}))).To(BeEmpty())
	})
}

func TestConnectionThatBreaks(t *testing.T) {
	cases := map[string]struct {
		method string
		asked  int
		fails  bool
	}{
		"a read is made again":   {http.MethodGet, 2, false},
		"a change is not":        {http.MethodPost, 1, true},
		"neither is a deletion":  {http.MethodDelete, 1, true},
		"nor a change of values": {http.MethodPatch, 1, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			g, f := NewWithT(t), newFake()
			asked := 0
			f.paths[system] = func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				if asked++; asked == 1 {
					hijacked, _, err := http.NewResponseController(w).Hijack()
					if err == nil {
						_, _ = hijacked.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"))
						_ = hijacked.Close()
					}
					return
				}
				body(w, http.StatusOK, `{}`)
			}
			it := newClient(t, serve(t, f), quick())
			var err error
			switch c.method {
			case http.MethodGet:
				err = it.Get(t.Context(), system, &struct{}{})
			case http.MethodPost:
				_, err = it.Post(t.Context(), system, nil)
			case http.MethodPatch:
				_, err = it.Patch(t.Context(), system, map[string]int{})
			default:
				_, err = it.Delete(t.Context(), system)
			}
			if c.fails {
				g.Expect(client.KindOf(err)).To(Equal(client.Unreachable))
			} else {
				g.Expect(err).NotTo(HaveOccurred())
			}
			g.Expect(asked).To(Equal(c.asked))
		})
	}
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
