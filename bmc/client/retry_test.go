package client_test

import (
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

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

// TestWhatWeDeleteIsGone: a 404 after our own deletion is believed at once.
func TestWhatWeDeleteIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, f := NewWithT(t), newFake()
		const list, made = "/redfish/v1/EventService/Subscriptions", "/redfish/v1/EventService/Subscriptions/7"
		f.paths[list] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", made)
			body(w, http.StatusCreated, `{}`)
		}
		f.paths[made] = func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodDelete {
				f.paths[made] = answers(http.StatusNotFound, "")
			}
			body(w, http.StatusOK, `{}`)
		}
		it := inside(t, f, quick())
		answer, err := it.Post(t.Context(), list, map[string]string{})
		g.Expect(err).NotTo(HaveOccurred())
		_, err = it.Delete(t.Context(), answer.Location())
		g.Expect(err).NotTo(HaveOccurred())
		start := time.Now()
		g.Expect(client.KindOf(it.Get(t.Context(), made, &struct{}{}))).To(Equal(client.NotSupported))
		g.Expect(time.Since(start)).To(BeZero())
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
