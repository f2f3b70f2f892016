package rest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/ironflow/ironflow/hub/service"
)

// Bounds of the bodies of requests that are not answered yet, in bytes: each is in memory, and what is made of it as well.
const (
	// maxArriving is of all agents of one infra-env, and of the programs inside a cluster.
	maxArriving = 64 << 20
	// maxArrivingOfOne is of a host with a token of its own: the largest body and some small ones, but not so much that a few
	// hosts leave the others of their infra-env nothing.
	maxArrivingOfOne = maxBody + 1<<20
	// smallBody is how much memory a body gets before any of it has come, which may never be. Most are smaller.
	smallBody = 128 << 10
)

// arriving counts the bytes of bodies, by who sends them. The zero value is ready.
type arriving struct {
	mu    sync.Mutex
	bytes map[string]int64
}

// add counts bytes of a sender, or takes them back, and reports whether all of them are within the bound.
func (a *arriving) add(from string, n, bound int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.bytes == nil {
		a.bytes = map[string]int64{}
	}
	a.bytes[from] += n
	if a.bytes[from] <= 0 {
		delete(a.bytes, from)
	}
	return a.bytes[from] <= bound
}

// readBody reads the whole body of a request. An agent's counts until [request.doneWithBody]. That of a host with a token of its
// own counts for that host as long as it is said to be, before anything of it is read: bodies that are begun and never ended are
// refused while they cost nothing. For its infra-env only what has come counts, or few bytes would shut out the others.
func (r *request) readBody() ([]byte, error) {
	body := http.MaxBytesReader(r.w, r.Body, maxBody)
	if r.caller.scope() == "" {
		return io.ReadAll(body)
	}
	r.doneWithBody()
	r.arrived = &metered{from: body, count: &r.limits.arriving, all: sender{r.caller.scope(), maxArriving, "hosts of this infra-env are"}}
	if one := r.caller.one(); one != "" {
		r.arrived.one = &sender{r.caller.scope() + "/" + one, maxArrivingOfOne, "this host is"}
		if r.ContentLength > maxBody {
			return nil, &http.MaxBytesError{Limit: maxBody}
		}
		if err := r.arrived.announce(max(0, r.ContentLength)); err != nil {
			r.w.Header().Set("Retry-After", retryAfter)
			return nil, err
		}
	}
	var raw bytes.Buffer
	if r.ContentLength > 0 {
		raw.Grow(int(min(r.ContentLength, smallBody)) + bytes.MinRead)
	}
	_, err := raw.ReadFrom(r.arrived)
	return raw.Bytes(), err
}

// doneWithBody no longer counts the body that was read, if any.
func (r *request) doneWithBody() {
	if r.arrived != nil {
		r.arrived.done()
		r.arrived = nil
	}
}

// one names the host that the caller alone is by its token; empty for others.
func (c caller) one() string { return cmp.Or(c.agent.HostID, c.agent.Machine) }

// sender is whose bytes are counted, how many may be in memory, and who it is for people.
type sender struct {
	name  string
	bound int64
	is    string
}

func (s sender) tooMuch() error {
	return &service.Error{Code: http.StatusTooManyRequests, Reason: fmt.Sprintf("%s sending more than %s at the same time; send this again later", s.is, byteCount(s.bound))}
}

// metered is a body whose bytes are counted until it is done with.
type metered struct {
	from  io.Reader
	count *arriving
	all   sender
	// one is the host with a token of its own that sends it; nil for others.
	one *sender
	// ofAll is what counts for all, ofOne what counts for the one: as many bytes as it has announced, or sent if those are more.
	ofAll, ofOne int64
}

// announce counts bytes of the one host that are to come.
func (m *metered) announce(n int64) error {
	m.ofOne += n
	if !m.count.add(m.one.name, n, m.one.bound) {
		return m.one.tooMuch()
	}
	return nil
}

// Read implements [io.Reader].
func (m *metered) Read(p []byte) (int, error) {
	n, err := m.from.Read(p)
	m.ofAll += int64(n)
	within := m.count.add(m.all.name, int64(n), m.all.bound)
	if more := m.ofAll - m.ofOne; m.one != nil && more > 0 { // before all of them: what is refused here costs the others nothing
		if err := m.announce(more); err != nil {
			return n, err
		}
	}
	if !within {
		return n, m.all.tooMuch()
	}
	return n, err
}

func (m *metered) done() {
	m.count.add(m.all.name, -m.ofAll, m.all.bound)
	if m.one != nil {
		m.count.add(m.one.name, -m.ofOne, m.one.bound)
	}
}
