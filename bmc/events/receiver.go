package events

import (
	"bytes"
	"context"
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/bmc/events/meaning"
)

// Options configure a [Receiver]. Zero values are the defaults that are named.
type Options struct {
	// Keys derives the hosts' addresses, Sink gets what they tell.
	Keys Keys
	Sink Sink
	// Heard is told of each delivery of a host that was taken; nil for nobody. It must not block.
	Heard func(host string, at time.Time)
	// HostRate and HostBurst bound the deliveries of one host, a second and at once:
	// 10 and 100. Rate and Burst bound those of all: 5000 and 10000. What is beyond is
	// taken unread and becomes one wake of the kind meaning.Look.
	HostRate, Rate   float64
	HostBurst, Burst int
	// GuessRate and GuessBurst bound how many deliveries to no host's address are
	// looked at: 20 a second, 100 at once. All get the same answer.
	GuessRate  float64
	GuessBurst int
	// Bodies is how many bodies are read at the same time: 32, of one host 4. Each takes
	// up to 4 times MaxBody of memory while it is read.
	Bodies int
	// BodyTime is how long a body may take: 10 s. MaxBody is its size: 1 MiB.
	BodyTime time.Duration
	MaxBody  int64
	// Queue is how many events wait for the sink: 8192, of one host 256.
	Queue int
	// Now is the clock; time.Now when nil.
	Now func() time.Time
}

func (o *Options) complete() {
	o.HostRate, o.HostBurst = or(o.HostRate, 10), or(o.HostBurst, 100)
	o.Rate, o.Burst = or(o.Rate, 5000), or(o.Burst, 10_000)
	o.GuessRate, o.GuessBurst = or(o.GuessRate, 20), or(o.GuessBurst, 100)
	o.Bodies, o.BodyTime, o.MaxBody = or(o.Bodies, 32), or(o.BodyTime, 10*time.Second), or(o.MaxBody, 1<<20)
	o.Queue = or(o.Queue, 8192)
	if o.Now == nil {
		o.Now = time.Now
	}
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

const (
	// hostBodies is how many bodies of one host are read at the same time, guessBodies
	// how many that are for no host.
	hostBodies  = 4
	guessBodies = 8
	// keptBuffer is the largest buffer that is kept for the next body.
	keptBuffer = 64 << 10
)

// Receiver is the http.Handler that takes deliveries: POST to a host's address.
// Everything else gets the same 404 after the same work. It answers at once; [Receiver.Run]
// hands over to the sink. Serve it over TLS, with limits for connections and
// headers, and keep paths out of access logs: they are secret.
type Receiver struct {
	options  Options
	hosts    hosts
	limits   limits
	queue    queue
	counters counters
	buffers  sync.Pool
}

var _ http.Handler = (*Receiver)(nil)

// NewReceiver makes a receiver that knows no host yet.
func NewReceiver(o Options) *Receiver {
	o.complete()
	r := &Receiver{options: o}
	r.hosts.init(o)
	r.limits.init(o)
	r.queue.init(o.Queue)
	r.buffers.New = func() any { return new(bytes.Buffer) }
	return r
}

// Register takes deliveries for a host from now on, with the keys of these
// generations: the one in use first, then those that may still be in a BMC. It
// replaces what was registered before.
func (r *Receiver) Register(host string, generations ...int) {
	r.hosts.register(host, generations)
}

// Forget takes no deliveries for a host any more.
func (r *Receiver) Forget(host string) { r.hosts.forget(host) }

// Counts are the figures for metrics.
func (r *Receiver) Counts() Counts { return r.counters.read() }

// ServeHTTP implements http.Handler.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	part, _ := strings.CutPrefix(request.URL.Path, Prefix)
	host := r.hosts.find(part)
	now := r.options.Now()
	ctx, cancel := context.WithTimeout(request.Context(), r.options.BodyTime)
	defer cancel()
	done, admitted := r.limits.enter(ctx, host, now)
	if !admitted {
		r.turnAway(w, host)
		return
	}
	defer done()
	payload, intact, ok := r.read(w, request)
	// Both comparisons are made in any case, with what no host has where there is none.
	right := subtle.ConstantTimeCompare([]byte(payload.Context), []byte(host.key.Context))
	right &= subtle.ConstantTimeCompare([]byte(part), []byte(host.key.Part))
	if right != 1 || !ok || host.entry == nil || request.Method != http.MethodPost {
		if !ok && host.entry != nil {
			// Too large or too slow, but at the right address.
			r.missed(host.entry)
		}
		r.refuse(w)
		return
	}
	r.take(host.entry, payload, intact, now)
	w.WriteHeader(http.StatusNoContent)
}

// turnAway answers what is beyond a limit, unread. A BMC that sends too much gets a
// good answer all the same: most drop a subscription whose deliveries fail.
func (r *Receiver) turnAway(w http.ResponseWriter, host match) {
	if host.entry == nil {
		r.refuse(w)
		return
	}
	r.missed(host.entry)
	w.WriteHeader(http.StatusNoContent)
}

// missed lets the host be looked at, since an event of it was not read.
func (r *Receiver) missed(e *entry) {
	r.counters.overflowed.Add(1)
	r.queue.look(e)
}

// refuse is the answer to everything that is wrong.
func (r *Receiver) refuse(w http.ResponseWriter) {
	r.counters.refused.Add(1)
	http.Error(w, "not found", http.StatusNotFound)
}

// read reads and parses the body. Intact says that it was a whole payload.
func (r *Receiver) read(w http.ResponseWriter, request *http.Request) (payload meaning.Payload, intact, ok bool) {
	buffer, _ := r.buffers.Get().(*bytes.Buffer)
	defer func() {
		if buffer.Cap() <= keptBuffer {
			r.buffers.Put(buffer)
		}
	}()
	buffer.Reset()
	control := http.NewResponseController(w)
	// A recorder of a test has no deadlines.
	_ = control.SetReadDeadline(time.Now().Add(r.options.BodyTime))
	_, err := io.Copy(buffer, http.MaxBytesReader(w, request.Body, r.options.MaxBody))
	if err != nil {
		return payload, false, false
	}
	_ = control.SetReadDeadline(time.Time{})
	payload, err = meaning.Parse(buffer.Bytes())
	return payload, err == nil, true
}

// take queues what was told.
func (r *Receiver) take(e *entry, payload meaning.Payload, intact bool, now time.Time) {
	r.counters.taken.Add(1)
	r.counters.events.Add(int64(len(payload.Events)))
	if r.options.Heard != nil {
		r.options.Heard(e.host, now)
	}
	if !intact || payload.More > 0 {
		r.missed(e)
	}
	if len(payload.Events) > 0 && !r.queue.put(e, payload.Events) {
		r.missed(e)
	}
}

// Run hands what was taken over to the sink until the context ends.
func (r *Receiver) Run(ctx context.Context) error {
	for {
		item, ok := r.queue.next(ctx)
		if !ok {
			return nil
		}
		if r.hosts.gone(item.entry) {
			continue
		}
		fresh := item.entry.fresh(item.events)
		r.counters.repeated.Add(int64(len(item.events) - len(fresh)))
		hand(r.options.Sink, item.entry.host, fresh, item.look, r.options.Now())
	}
}
