package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

// transfer is a range of a revision on its way to one client. As an io.Reader it
// is the slow way (TLS, several ranges); [conn] sends it without copies.
type transfer struct {
	revision *images.Revision
	off, end int64
	progress *progress
}

// Read implements io.Reader.
func (t *transfer) Read(p []byte) (int, error) {
	if t.off >= t.end {
		return 0, io.EOF
	}
	n, err := t.revision.Image.ReadAt(p[:min(int64(len(p)), t.end-t.off)], t.off)
	t.served(int64(n))
	if errors.Is(err, io.EOF) && n > 0 {
		err = nil
	}
	return n, err
}

// served moves on by n bytes.
func (t *transfer) served(n int64) {
	if n > 0 {
		t.revision.Served(t.off, n)
		t.off += n
		t.progress.made(n)
	}
}

// filer is a source that sendfile can read.
type filer interface{ File() *os.File }

// fileOf returns the file behind a segment, nil when its bytes are in memory.
func fileOf(s overlay.Segment) *os.File {
	if f, ok := s.Source.(filer); ok {
		return f.File()
	}
	return nil
}

// progress pushes a connection's write deadline ahead as long as enough bytes flow,
// so that a slow reader lives, and a dead one does not, nor one that takes a drop
// now and then to keep its place.
type progress struct {
	on      deadliner
	timeout time.Duration
	bytes   *counter
	// begun is when the answer began, last when the deadline was moved.
	begun, last time.Time
	// taken is how many bytes went since then.
	taken int64
}

// deadliner is the part of a connection, or of a response, that progress needs.
type deadliner interface{ SetWriteDeadline(t time.Time) error }

const (
	// deadlineStep is how often a deadline is moved at most; moving costs time.
	deadlineStep = time.Second
	// leastTaken is what a reader has to take before its deadline is moved.
	leastTaken = 256 << 10
)

// begin is the beginning of an answer: the deadline that the last one left may be
// about to pass.
func (p *progress) begin() {
	p.begun = time.Now()
	p.move(p.begun)
}

// made books n bytes, and moves the deadline when they are enough.
func (p *progress) made(n int64) {
	p.bytes.add(n)
	if p.taken += n; p.taken >= leastTaken {
		p.move(time.Now())
	}
}

func (p *progress) move(now time.Time) {
	if now.Sub(p.last) >= min(deadlineStep, p.timeout/2) {
		p.last, p.taken = now, 0
		_ = p.on.SetWriteDeadline(now.Add(p.timeout)) // what has no deadlines simply has none
	}
}

// exchange is what one request and its answer need. A connection serves one
// request after the other, so it has one exchange for all of them.
type exchange struct {
	// conn is the connection when it takes transfers directly, otherwise nil.
	conn     *conn
	progress progress
	transfer transfer
	// length and span hold the values of Content-Length and Content-Range.
	length, span [1]string
}

// exchange prepares the exchange of a request.
func (s *Server) exchange(w http.ResponseWriter, r *http.Request) *exchange {
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		return s.exchangeOf(c)
	}
	x := &exchange{progress: progress{on: http.NewResponseController(w), timeout: s.options.ProgressTimeout, bytes: &s.metrics.bytes}}
	x.progress.begin()
	return x
}

// exchangeOf prepares the next exchange of a connection. Short answers that follow each
// other share a deadline.
func (s *Server) exchangeOf(c *conn) *exchange {
	x := &c.exchange
	x.conn = c
	x.progress = progress{on: c.TCPConn, timeout: s.options.ProgressTimeout, last: x.progress.last, bytes: &s.metrics.bytes}
	x.progress.begin()
	return x
}
