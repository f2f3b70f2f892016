package events

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// sink remembers what it got.
type sink struct {
	mu     sync.Mutex
	wakes  []Wake
	alerts []Alert
	more   chan struct{}
}

// await waits for as many alerts.
func (s *sink) await(alerts int) {
	for len(s.Alerts()) < alerts {
		<-s.more
	}
}

func (s *sink) Wake(w Wake) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakes = append(s.wakes, w)
}

func (s *sink) Alert(a Alert) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.alerts = append(s.alerts, a)
	select {
	case s.more <- struct{}{}:
	default:
	}
}

func (s *sink) Wakes() []Wake {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Wake{}, s.wakes...)
}

func (s *sink) Alerts() []Alert {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Alert{}, s.alerts...)
}

func testKeys(t testing.TB) Keys {
	t.Helper()
	sum := sha256.Sum256([]byte("test"))
	keys, err := NewKeys(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// deliver posts a body to an address.
func deliver(h http.Handler, part, body string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, Prefix+part, strings.NewReader(body)))
	return w
}

// payload is a delivery with one event.
func payload(key Key, id int, event string) string {
	return fmt.Sprintf(`{"Context":%q,"Events":[{"EventId":"%d","EventTimestamp":"2026-08-01T10:00:00Z",%s}]}`, key.Context, id, event)
}

const (
	power = `"MessageId":"ResourceEvent.1.3.ResourcePowerStateChanged","Severity":"OK"`
	fan   = `"MessageId":"Environmental.1.0.FanFailed","MessageSeverity":"Critical","Message":"Fan 1 failed."`
)

// running starts the receiver's hand-over within a bubble.
func running(t *testing.T, o Options) (*Receiver, *sink) {
	t.Helper()
	got := &sink{more: make(chan struct{}, 1)}
	o.Keys, o.Sink = testKeys(t), got
	r := NewReceiver(o)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- r.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return r, got
}

func TestDelivery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		heard := map[string]int{}
		r, got := running(t, Options{Heard: func(host string, _ time.Time) { heard[host]++ }})
		key := r.options.Keys.Of("host-1", 3)
		r.Register("host-1", 3, 2)

		g.Expect(deliver(r, key.Part, payload(key, 1, power)).Code).To(Equal(http.StatusNoContent))
		g.Expect(deliver(r, key.Part, payload(key, 2, fan)).Code).To(Equal(http.StatusNoContent))
		synctest.Wait()
		g.Expect(got.Wakes()).To(Equal([]Wake{{Host: "host-1", Kind: meaning.Power}, {Host: "host-1", Kind: meaning.Health}}))
		g.Expect(got.Alerts()).To(Equal([]Alert{{
			Host: "host-1", Severity: meaning.Critical, Message: "Fan 1 failed.", Time: time.Date(2026, 8, 1, 10, 0, 0, 0, time.UTC), ID: "2",
		}}))
		g.Expect(heard).To(Equal(map[string]int{"host-1": 2}), "whoever waits for a delivery is told of each")

		// The former generation is taken until it is dropped.
		former := r.options.Keys.Of("host-1", 2)
		g.Expect(deliver(r, former.Part, payload(former, 3, power)).Code).To(Equal(http.StatusNoContent))
		g.Expect(deliver(r, former.Part, payload(key, 3, power)).Code).To(Equal(http.StatusNotFound), "with the context of another")
		r.Register("host-1", 3)
		g.Expect(deliver(r, former.Part, payload(former, 4, power)).Code).To(Equal(http.StatusNotFound))

		// An alert that comes again is told once.
		g.Expect(deliver(r, key.Part, payload(key, 2, fan)).Code).To(Equal(http.StatusNoContent))
		synctest.Wait()
		g.Expect(got.Alerts()).To(HaveLen(1))
		g.Expect(r.Counts()).To(Equal(Counts{Taken: 4, Events: 4, Repeated: 1, Refused: 2}))

		r.Forget("host-1")
		g.Expect(deliver(r, key.Part, payload(key, 5, power)).Code).To(Equal(http.StatusNotFound))
	})
}

// TestWhatItIsAbout: a BMC with several systems says of which it tells, pushed and in its
// stream.
func TestWhatItIsAbout(t *testing.T) {
	const first, second = "/redfish/v1/Systems/1", "/redfish/v1/Systems/2"
	told := power + `,"OriginOfCondition":{"@odata.id":"` + first + `"}},{` + power + `,"OriginOfCondition":"` + second + `"},{` + power +
		`,"OriginOfCondition":"` + second + `"},{` + fan + `,"OriginOfCondition":{"@odata.id":"` + second + `/Fans/1"}},{` + fan
	wakes := []Wake{
		{Host: "host-1", Kind: meaning.Power, System: first},
		{Host: "host-1", Kind: meaning.Power, System: second},
		{Host: "host-1", Kind: meaning.Health, System: second},
		{Host: "host-1", Kind: meaning.Health},
	}
	for name, tell := range map[string]func(t *testing.T) *sink{
		"pushed": func(t *testing.T) *sink {
			r, got := running(t, Options{})
			key := r.options.Keys.Of("host-1", 0)
			r.Register("host-1", 0)
			NewWithT(t).Expect(deliver(r, key.Part, payload(key, 1, told)).Code).To(Equal(http.StatusNoContent))
			synctest.Wait()
			return got
		},
		"streamed": func(t *testing.T) *sink {
			ctx, stop := context.WithCancel(t.Context())
			got, done := &sink{}, make(chan error)
			s := &streamer{began: time.Now(), play: func(int) (io.ReadCloser, error) { return open(record(told)), nil }}
			go func() { done <- Follow(ctx, s, "host-1", got) }()
			synctest.Wait()
			stop()
			NewWithT(t).Expect(<-done).To(Succeed())
			got.wakes = got.wakes[1:] // the stream's beginning
			return got
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				got := tell(t)
				g.Expect(got.Wakes()).To(Equal(wakes))
				g.Expect(got.Alerts()).To(HaveExactElements(HaveField("System", second), HaveField("System", "")))
			})
		})
	}
}

// counting counts what is read of a body.
type counting struct {
	io.Reader
	read int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	return n, err
}

// TestGuessing: whatever is wrong, the answer is the same, and so is the work: the
// body is read and held against a context in each case. Nobody is woken.
func TestGuessing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, got := running(t, Options{})
		r.Register("host-1", 1)
		key, other := r.options.Keys.Of("host-1", 1), r.options.Keys.Of("host-2", 1)
		good := payload(key, 1, power)
		wrong := map[string]struct{ method, path, body string }{
			"no such address":           {"POST", Prefix + other.Part, good},
			"almost the address":        {"POST", Prefix + key.Part[:31] + "-", good},
			"a part of the address":     {"POST", Prefix + key.Part[:16], good},
			"more than the address":     {"POST", Prefix + key.Part + "/", good},
			"another prefix":            {"POST", "/redfish/v1/" + key.Part, good},
			"no address":                {"POST", Prefix, good},
			"another host's context":    {"POST", Prefix + key.Part, payload(other, 1, power)},
			"no context":                {"POST", Prefix + key.Part, strings.Replace(good, "Context", "Kontext", 1)},
			"context of another length": {"POST", Prefix + key.Part, strings.Replace(good, key.Context, "x", 1)},
			"another method":            {"PUT", Prefix + key.Part, good},
			"no JSON":                   {"POST", Prefix + key.Part, strings.Repeat("x", len(good))},
			"no context before the end": {"POST", Prefix + key.Part, `{"Events":[` + strings.Repeat("{},", 20)},
		}
		var first *httptest.ResponseRecorder
		for name, c := range wrong {
			w, body := httptest.NewRecorder(), &counting{Reader: strings.NewReader(c.body)}
			r.ServeHTTP(w, httptest.NewRequest(c.method, c.path, body))
			g.Expect(w.Code).To(Equal(http.StatusNotFound), name)
			g.Expect(body.read).To(Equal(len(c.body)), "%s: the body is read", name)
			if first == nil {
				first = w
			}
			g.Expect(w.Body.String()).To(Equal(first.Body.String()), name)
			g.Expect(w.Header()).To(Equal(first.Header()), name)
		}
		synctest.Wait()
		g.Expect(got.Wakes()).To(BeEmpty())
		g.Expect(got.Alerts()).To(BeEmpty())
		g.Expect(r.Counts().Refused).To(BeEquivalentTo(len(wrong)))
		g.Expect(deliver(r, key.Part, good).Code).To(Equal(http.StatusNoContent), "and the right one works")
	})
}

// TestGuessersTakeNothingAway: those that know no address are refused unread beyond
// their bound, and others are served all the time.
func TestGuessersTakeNothingAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, _ := running(t, Options{GuessRate: 1, GuessBurst: 10})
		r.Register("host-1", 1)
		key := r.options.Keys.Of("host-1", 1)
		read := 0
		for range 1000 {
			w, body := httptest.NewRecorder(), &counting{Reader: strings.NewReader(`{"Context":"x"}`)}
			r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, Prefix+"guess", body))
			g.Expect(w.Code).To(Equal(http.StatusNotFound))
			read += min(body.read, 1)
		}
		g.Expect(read).To(Equal(10))
		g.Expect(deliver(r, key.Part, payload(key, 1, power)).Code).To(Equal(http.StatusNoContent))
	})
}

// TestHostileBodies: from whoever knows the address, too.
func TestHostileBodies(t *testing.T) {
	deep := strings.Repeat("[", 200_000)
	for name, c := range map[string]struct {
		body func(Key) string
		code int
		look bool
	}{
		"larger than a megabyte": {func(k Key) string { return payload(k, 1, fan) + strings.Repeat(" ", 1<<20) }, http.StatusNotFound, true},
		"deeply nested":          {func(k Key) string { return `{"Context":"` + k.Context + `","Events":` + deep }, http.StatusNoContent, true},
		"cut short":              {func(k Key) string { s := payload(k, 1, fan); return s[:len(s)-10] }, http.StatusNoContent, true},
		"very many events": {func(k Key) string {
			return `{"Context":"` + k.Context + `","Events":[` + strings.Repeat("{},", 300_000) + `{}]}`
		}, http.StatusNoContent, true},
		"none":           {func(k Key) string { return `{"Context":"` + k.Context + `"}` }, http.StatusNoContent, false},
		"metric report":  {func(k Key) string { return `{"Context":"` + k.Context + `","MetricValues":[{}]}` }, http.StatusNoContent, false},
		"duplicate keys": {func(k Key) string { return `{"Context":"` + k.Context + `","Context":"x","Events":[]}` }, http.StatusNoContent, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r, got := running(t, Options{})
				r.Register("host-1", 1)
				key := r.options.Keys.Of("host-1", 1)
				g.Expect(deliver(r, key.Part, c.body(key)).Code).To(Equal(c.code))
				synctest.Wait()
				look := Wake{Host: "host-1", Kind: meaning.Look}
				if c.look {
					g.Expect(got.Wakes()).To(Equal([]Wake{look}), "what was not read makes us look")
				} else {
					g.Expect(got.Wakes()).To(BeEmpty())
				}
			})
		})
	}
}

// TestHostBeyondItsRate: what a host sends beyond its rate is taken unread and
// becomes one look at it; others are not concerned.
func TestHostBeyondItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, got := running(t, Options{HostRate: 10, HostBurst: 100})
		r.Register("loud", 1)
		r.Register("calm", 1)
		loud, calm := r.options.Keys.Of("loud", 1), r.options.Keys.Of("calm", 1)
		for i := range 1000 {
			g.Expect(deliver(r, loud.Part, payload(loud, i, power)).Code).To(Equal(http.StatusNoContent))
		}
		g.Expect(r.Counts().Taken).To(BeEquivalentTo(100))
		g.Expect(r.Counts().Overflowed).To(BeEquivalentTo(900))
		g.Expect(deliver(r, calm.Part, payload(calm, 1, power)).Code).To(Equal(http.StatusNoContent))
		synctest.Wait()
		looks := 0
		for _, w := range got.Wakes() {
			if w == (Wake{Host: "loud", Kind: meaning.Look}) {
				looks++
			}
		}
		g.Expect(looks).To(BeNumerically(">=", 1))
		g.Expect(got.Wakes()).To(ContainElement(Wake{Host: "calm", Kind: meaning.Power}))

		<-time.After(5 * time.Second)
		before := r.Counts().Taken
		for i := range 1000 {
			deliver(r, loud.Part, payload(loud, i, power))
		}
		g.Expect(r.Counts().Taken-before).To(BeEquivalentTo(50), "10 a second since")
	})
}

// TestQueueIsBounded: while the sink is away, memory is bounded by the queue, and
// nobody is forgotten.
func TestQueueIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		got := &sink{}
		const hosts, queue = 50, 640
		r := NewReceiver(Options{Keys: testKeys(t), Sink: got, Queue: queue, HostBurst: 1 << 20, Burst: 1 << 20})
		for i := range hosts {
			r.Register(fmt.Sprint(i), 1)
		}
		for i := range 1500 {
			key := r.options.Keys.Of(fmt.Sprint(i%hosts), 1)
			g.Expect(deliver(r, key.Part, payload(key, i, fan)).Code).To(Equal(http.StatusNoContent))
		}
		g.Expect(r.queue.size).To(Equal(queue))
		g.Expect(len(r.queue.items)).To(BeNumerically("<=", queue+hosts))

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- r.Run(ctx) }()
		synctest.Wait()
		cancel()
		g.Expect(<-done).To(Succeed())
		g.Expect(r.queue.items).To(BeEmpty())
		looked := map[string]bool{}
		for _, w := range got.Wakes() {
			if w.Kind == meaning.Look {
				looked[w.Host] = true
			}
		}
		g.Expect(looked).To(HaveLen(hosts))
	})
}

// TestFlood: over TLS, from 300 BMCs at once, as fast as they can; each event comes
// through exactly once.
func TestFlood(t *testing.T) {
	g := NewWithT(t)
	r, got := running(t, Options{})
	server := httptest.NewTLSServer(r)
	defer server.Close()
	const hosts, each, senders = 300, 20, 20
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = senders
	for h := range hosts {
		r.Register(fmt.Sprint(h), 1)
	}
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := range each {
				for h := s; h < hosts; h += senders {
					key := r.options.Keys.Of(fmt.Sprint(h), 1)
					body := payload(key, i, `"EventType":"Alert","MessageId":"Acme.1.0.X","Severity":"Warning","Message":"m"`)
					answer, err := client.Post(server.URL+Prefix+key.Part, "application/json", strings.NewReader(body))
					if err != nil {
						t.Error(err)
						return
					}
					_ = answer.Body.Close()
					if answer.StatusCode != http.StatusNoContent {
						t.Errorf("status %d", answer.StatusCode)
					}
				}
			}
		})
	}
	wg.Wait()
	got.await(hosts * each)
	seen := map[string]bool{}
	for _, a := range got.Alerts() {
		seen[a.Host+"/"+a.ID] = true
	}
	g.Expect(seen).To(HaveLen(hosts * each))
	g.Expect(r.Counts()).To(Equal(Counts{Taken: hosts * each, Events: hosts * each}))
}

// pipes is a listener without a network.
type pipes chan net.Conn

func (p pipes) Accept() (net.Conn, error) {
	if c, open := <-p; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (p pipes) Close() error   { close(p); return nil }
func (p pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestSlowBody: a body that does not come holds its place no longer than it may, and
// the host is looked at.
func TestSlowBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r, got := running(t, Options{BodyTime: 10 * time.Second})
		r.Register("host-1", 1)
		key := r.options.Keys.Of("host-1", 1)
		listener := make(pipes)
		server := &http.Server{Handler: r, ReadHeaderTimeout: time.Second}
		served := make(chan error)
		go func() { served <- server.Serve(listener) }()
		defer func() {
			g.Expect(server.Close()).To(Succeed())
			g.Expect(<-served).To(MatchError(http.ErrServerClosed))
		}()
		near, far := net.Pipe()
		listener <- far
		began := time.Now()
		go func() {
			_, _ = fmt.Fprintf(near, "POST %s%s HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{", Prefix, key.Part)
		}()
		answer, err := http.ReadResponse(bufio.NewReader(near), nil)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(answer.StatusCode).To(Equal(http.StatusNotFound))
		g.Expect(time.Since(began)).To(Equal(10 * time.Second))
		g.Expect(answer.Body.Close()).To(Succeed())
		g.Expect(near.Close()).To(Succeed())
		synctest.Wait()
		g.Expect(got.Wakes()).To(Equal([]Wake{{Host: "host-1", Kind: meaning.Look}}))
		g.Expect(r.limits.bodies).To(BeEmpty())
	})
}

func BenchmarkDelivery(b *testing.B) {
	r := NewReceiver(Options{Keys: testKeys(b), Sink: &sink{}, Rate: 1e9, HostRate: 1e9, Burst: 1 << 30, HostBurst: 1 << 30})
	r.Register("host-1", 1)
	key := r.options.Keys.Of("host-1", 1)
	body := []byte(payload(key, 1, fan))
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, httptest.NewRequest(http.MethodPost, Prefix+key.Part, bytes.NewReader(body)))
		r.queue.pop()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}
