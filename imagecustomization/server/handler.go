// Package server serves live images to BMCs and boot loaders: byte ranges out
// of composed images, at the speed of a static file server.
//
// [Server] is an http.Handler; its Serve method adds what the handler alone
// cannot do: sendfile straight from the base medium, TLS beside plain HTTP, and
// limits. Nothing is listed, and an address that is not known says nothing.
package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"

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
	// 64), MaxTotal those for all (default 8192); files that many hosts read, such
	// as a root file system, count in MaxTotal only. Beyond, the answer is 503 at
	// once.
	MaxPerImage, MaxTotal int
	// ProgressTimeout is how long a reader may take nothing (default 60 s).
	ProgressTimeout time.Duration
	// CertFile and KeyFile are the TLS certificate and key, reloaded when they change.
	CertFile, KeyFile string
}

// Server answers requests for images.
type Server struct {
	options Options
	metrics *metrics
	dates   dates
}

// retryAfter is what a 503 asks for, in seconds.
const retryAfter = "5"

// New returns a Server.
func New(o Options) *Server {
	if o.MaxPerImage == 0 {
		o.MaxPerImage = 64
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 8192
	}
	if o.ProgressTimeout == 0 {
		o.ProgressTimeout = time.Minute
	}
	return &Server{options: o, metrics: newMetrics(o.Registerer, o.Store.Images)}
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := s.exchange(w, r)
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
		s.reject(w, rejectBase)
		return
	}
	if r.Method == http.MethodHead {
		s.respond(w, r, revision, x)
		return
	}
	if n := s.metrics.readers.n.Add(1); n > int64(s.options.MaxTotal) {
		s.metrics.readers.add(-1)
		s.reject(w, rejectTotal)
		return
	}
	defer s.metrics.readers.add(-1)
	if !revision.Begin(s.options.MaxPerImage) {
		s.reject(w, rejectHost)
		return
	}
	defer revision.End()
	s.respond(w, r, revision, x)
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
	if !rare && x.answersWhole(r, kind, length) {
		s.answerWhole(revision, x, off, length)
		return
	}
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
	s.options.Log.Info("dropped a stalled reader", "image", revision.Key, "offset", t.off, "timeout", s.options.ProgressTimeout.String())
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
