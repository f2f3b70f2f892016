// Package server serves live images to BMCs and boot loaders: byte ranges out
// of composed images, at the speed of a static file server.
//
// [Server] is an http.Handler; its Serve method adds what the handler alone
// cannot do: sendfile straight from the medium, TLS beside plain HTTP, and
// limits. Nothing is listed, and an address that is not known says nothing.
package server

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// Store is where revisions come from; *images.Store implements it.
type Store interface {
	// Lookup finds a revision by the path of its address, or nil.
	Lookup(path string) *images.Revision
	// Synced tells whether an unknown address is gone for good.
	Synced() bool
	// Images returns the number of images and the memory that they hold.
	Images() (count int, memoryBytes int64)
}

// Options configure a [Server].
type Options struct {
	// Store holds the images.
	Store Store
	// Log gets one line per connection that was dropped; nothing per read.
	Log logr.Logger
	// Registerer takes the metrics; nil for none.
	Registerer prometheus.Registerer
	// Alias, unless nil, finds images by other paths than the store's: it returns
	// the store's path and 200, or the status code to answer with, or 0 for a path
	// that it does not know.
	Alias func(r *http.Request) (path string, code int)
	// MaxPerImage bounds the simultaneous requests for one host's image (default
	// 64), MaxTotal those for all (default 8192). Files of the medium, which anybody
	// may read, have half of MaxTotal; the image of an infra-env counts in MaxTotal
	// only. Beyond, the answer is 503 at once.
	MaxPerImage, MaxTotal int
	// MaxConnections bounds the open connections (default 16384), MaxPerAddress those
	// of one remote address (default 1024, less than 0 for any number). Beyond, a
	// connection is closed as soon as it is accepted.
	MaxConnections, MaxPerAddress int
	// HeaderTimeout is how long the header of a request, or a TLS handshake, may take
	// (default 10 s).
	HeaderTimeout time.Duration
	// IdleTimeout is how long a connection may rest after an answer (default 2 min).
	IdleTimeout time.Duration
	// ProgressTimeout is how long a reader may take for every 256 KiB of an answer, or
	// for what is left of it (default 60 s).
	ProgressTimeout time.Duration
	// CertFile and KeyFile are the TLS certificate and key, reloaded when they change.
	CertFile, KeyFile string
}

// Server answers requests for images.
type Server struct {
	options Options
	metrics *metrics
	gate    gate
	dates   dates
	// artifacts is how many of the readers read files of the medium.
	artifacts atomic.Int64
}

// retryAfter is what a 503 asks for, in seconds.
const retryAfter = "5"

// New returns a Server.
func New(o Options) *Server {
	o.MaxPerImage = cmp.Or(o.MaxPerImage, 64)
	o.MaxTotal = cmp.Or(o.MaxTotal, 8192)
	o.MaxConnections = cmp.Or(o.MaxConnections, 16384)
	o.MaxPerAddress = cmp.Or(o.MaxPerAddress, 1024)
	o.HeaderTimeout = cmp.Or(o.HeaderTimeout, 10*time.Second)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, 2*time.Minute)
	o.ProgressTimeout = cmp.Or(o.ProgressTimeout, time.Minute)
	s := &Server{options: o, metrics: newMetrics(o.Registerer, o.Store.Images)}
	s.gate = gate{total: o.MaxConnections, perAddress: o.MaxPerAddress, log: o.Log, refused: s.metrics.refused, by: map[netip.Addr]int{}}
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.exchange(w, r)
	if r.ContentLength != 0 {
		s.refuseBody(w)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		s.refuse(w, http.StatusMethodNotAllowed, "this server only sends images")
		return
	}
	revision := s.options.Store.Lookup(r.URL.Path)
	if revision == nil {
		if revision = s.alias(w, r); revision == nil {
			return
		}
	}
	if !revision.Intact() {
		s.reject(w, rejectMedium)
		return
	}
	if r.Method == http.MethodHead {
		s.respond(w, r, revision, x)
		return
	}
	if reason := s.begin(revision); reason != "" {
		s.reject(w, reason)
		return
	}
	defer s.end(revision)
	s.respond(w, r, revision, x)
}

// begin takes a place among the readers, or says why there is none. Whoever got one
// calls end.
func (s *Server) begin(revision *images.Revision) (reason string) {
	if s.metrics.readers.n.Add(1) > int64(s.options.MaxTotal) {
		s.metrics.readers.add(-1)
		return rejectTotal
	}
	artifact := revision.OfMedium()
	if artifact && s.artifacts.Add(1) > int64(s.options.MaxTotal+1)/2 {
		s.artifacts.Add(-1)
		s.metrics.readers.add(-1)
		return rejectArtifacts
	}
	if !revision.Begin(s.options.MaxPerImage) {
		s.metrics.readers.add(-1)
		return rejectHost
	}
	return ""
}

// end gives the place back.
func (s *Server) end(revision *images.Revision) {
	revision.End()
	if revision.OfMedium() {
		s.artifacts.Add(-1)
	}
	s.metrics.readers.add(-1)
}

// refuseBody answers a request that comes with a body, which means nothing here.
// net/http would wait for the body, before the answer and after it, for as long as
// the client likes.
func (s *Server) refuseBody(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	s.refuse(w, http.StatusBadRequest, "a request for an image has no body")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now()) // a recorder of a test has none
}

// alias looks for an image under a path that is not the store's, and answers the
// request when there is none.
func (s *Server) alias(w http.ResponseWriter, r *http.Request) *images.Revision {
	if s.options.Alias == nil {
		s.notFound(w, r)
		return nil
	}
	path, code := s.options.Alias(r)
	switch code {
	case http.StatusOK:
		if revision := s.options.Store.Lookup(path); revision != nil {
			return revision
		}
		s.notFound(w, r)
	case 0:
		s.notFound(w, r)
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", retryAfter)
		s.refuse(w, code, "the image is not ready yet")
	case http.StatusUnauthorized:
		s.refuse(w, code, "a token that opens the infra-env is needed")
	default:
		s.refuse(w, code, "no such image")
	}
	return nil
}

// notFound answers for addresses that are no image.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/live":
		_, _ = io.WriteString(w, "ok\n")
	case r.URL.Path == names.AskedPath:
		s.refuse(w, http.StatusGone, "this is Ironflow")
	case r.URL.Path == "/health" && s.options.Store.Synced():
		_, _ = io.WriteString(w, "ok\n")
	case r.URL.Path == "/health", strings.HasPrefix(r.URL.Path, "/images/") && !s.options.Store.Synced():
		w.Header().Set("Retry-After", retryAfter)
		s.refuse(w, http.StatusServiceUnavailable, "the images are not ready yet")
	default:
		s.refuse(w, http.StatusNotFound, "no such image")
	}
}

func (s *Server) reject(w http.ResponseWriter, reason string) {
	s.metrics.rejected[reason].add(1)
	w.Header().Set("Retry-After", retryAfter)
	s.refuse(w, http.StatusServiceUnavailable, rejections[reason])
}

func (s *Server) refuse(w http.ResponseWriter, code int, text string) {
	s.metrics.answered(code)
	http.Error(w, text, code)
}

// respond sends the revision, or the part of it that is asked for.
func (s *Server) respond(w http.ResponseWriter, r *http.Request, revision *images.Revision, x *exchange) {
	size := revision.Image.Size()
	kind, off, length := rangeNone, int64(0), size
	if want := r.Header["Range"]; len(want) > 0 && ifRange(r, revision) {
		kind, off, length = parseRange(want[0], size)
	}
	rare := kind == rangeMany || conditional(r)
	h := w.Header()
	revision.Describe(h)
	h["Date"] = s.dates.at(x.progress.begun) // net/http would write it anew each time
	if rare {
		s.general(w, r, revision, x)
		return
	}
	code := http.StatusOK
	if kind == rangeOutside {
		h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		s.refuse(w, http.StatusRequestedRangeNotSatisfiable, "the image has "+strconv.FormatInt(size, 10)+" bytes")
		return
	}
	if kind == rangeOne {
		code = http.StatusPartialContent
		x.span[0] = string(appendContentRange(make([]byte, 0, 64), off, length, size))
		h["Content-Range"] = x.span[:]
	}
	x.length[0] = strconv.FormatInt(length, 10)
	h["Content-Length"] = x.length[:]
	s.metrics.answered(code)
	if r.Method == http.MethodHead {
		w.WriteHeader(code)
		return
	}
	x.transfer = transfer{revision: revision, off: off, end: off + length, progress: &x.progress}
	s.ended(revision, &x.transfer, send(w, x.conn, code, &x.transfer))
}

// appendContentRange appends the value of Content-Range.
func appendContentRange(b []byte, off, length, size int64) []byte {
	b = append(b, "bytes "...)
	b = strconv.AppendInt(b, off, 10)
	b = append(b, '-')
	b = strconv.AppendInt(b, off+length-1, 10)
	b = append(b, '/')
	return strconv.AppendInt(b, size, 10)
}

// ifRange tells whether a range is wanted of this very revision.
func ifRange(r *http.Request, revision *images.Revision) bool {
	want := r.Header["If-Range"]
	return len(want) == 0 || want[0] == revision.ETag || want[0] == revision.LastModified
}

// conditional tells whether the request has a precondition beside If-Range.
func conditional(r *http.Request) bool {
	for _, key := range [...]string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if len(r.Header[key]) > 0 {
			return true
		}
	}
	return false
}

// send writes header and bytes; over plain TCP, c, both leave together.
func send(w http.ResponseWriter, c *conn, code int, t *transfer) error {
	from, takes := w.(io.ReaderFrom)
	flusher, flushes := w.(http.Flusher)
	if c == nil || !takes || !flushes {
		w.WriteHeader(code)
		_, err := copyOut(w, t)
		return err
	}
	c.hold()
	w.WriteHeader(code)
	flusher.Flush() // hands the header to the connection, which holds it
	_, err := from.ReadFrom(t)
	return err
}

// ended tells a stalled reader from one that went away, which BMCs do all the time.
func (s *Server) ended(revision *images.Revision, t *transfer, err error) {
	var timeout net.Error
	timedOut := errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
	if !timedOut {
		return
	}
	s.metrics.stalled.add(1)
	revision.Stalled()
	s.options.Log.Info("dropped a reader that took too little", "image", revision.Key, "offset", t.off, "timeout", s.options.ProgressTimeout.String())
}

// general handles what is rare: preconditions and several ranges.
func (s *Server) general(w http.ResponseWriter, r *http.Request, revision *images.Revision, x *exchange) {
	seeker := &readSeeker{transfer{revision: revision, end: revision.Image.Size(), progress: &x.progress}}
	counted := &codeWriter{ResponseWriter: w}
	http.ServeContent(counted, r, "", revision.Modified, seeker)
	s.metrics.answered(counted.code)
	s.ended(revision, &seeker.transfer, counted.err)
}

// readSeeker lets http.ServeContent read a transfer.
type readSeeker struct{ transfer }

// Seek implements io.Seeker.
func (r *readSeeker) Seek(off int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		off += r.off
	case io.SeekEnd:
		off += r.end
	}
	if off < 0 {
		return 0, errors.New("seek before the start")
	}
	r.off = off
	return off, nil
}

// codeWriter notes the status code and the first error.
type codeWriter struct {
	http.ResponseWriter
	code int
	err  error
}

// WriteHeader implements http.ResponseWriter.
func (w *codeWriter) WriteHeader(code int) {
	w.code = code
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *codeWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// connKey is the context key of a request's [conn].
type connKey struct{}

func withConn(ctx context.Context, c net.Conn) context.Context {
	if own, ok := c.(*conn); ok {
		return context.WithValue(ctx, connKey{}, own)
	}
	return ctx
}
