package rest

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/hub/files"
	"github.com/ironflow/ironflow/hub/openapi"
	"github.com/ironflow/ironflow/hub/protocol"
	"github.com/ironflow/ironflow/hub/releases"
	"github.com/ironflow/ironflow/hub/releases/lookup"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
)

// Limits of what a client may send.
const (
	// maxBody bounds JSON bodies; the largest is an inventory of thousands of disks.
	maxBody = 16 << 20
	// maxUpload bounds a log archive with its multipart wrapping.
	maxUpload = 262_144_000 + 1<<20
	// maxHeader bounds the request line and headers.
	maxHeader = 64 << 10
)

// retryAfter is when to ask again, in seconds, after a 503.
const retryAfter = "5"

// Options say how the API is served. Hub is required.
type Options struct {
	Hub *service.Hub
	// Auth says who may call; the zero value refuses every caller that needs a token.
	Auth Auth
	// PublicURL is how clients reach the hub; empty means as each of them did.
	PublicURL string
	// LiveFiles makes live systems; nil means that this hub does not.
	LiveFiles LiveFiles
	// Releases are those that clusters can have; nil means none.
	Releases *releases.File
	// Lookup finds out which release an image is; nil means one that reads none and has the list alone.
	Lookup *lookup.Finder
	// Registerer gets the request metrics; nil means none.
	Registerer prometheus.Registerer
	// Log may be nil.
	Log *slog.Logger
}

// Server is the API as an http.Handler.
type Server struct {
	hub     *service.Hub
	auth    Auth
	log     *slog.Logger
	metrics *metrics
	mux     *http.ServeMux
	// document is the OpenAPI document.
	document []byte
	bodies   *protocol.Bodies
	releases *releases.File
	lookup   *lookup.Finder
	public   string
	live     LiveFiles
	limits   limits
}

// limits are what agents have used up of what they may.
type limits struct {
	budgets  budgets
	arriving arriving
	uploads  uploads
}

// New builds the API from the protocol's table.
func New(o Options) (*Server, error) {
	if o.Hub == nil {
		return nil, errors.New("rest: a hub is required")
	}
	s := &Server{hub: o.Hub, auth: o.Auth, log: o.Log, metrics: newMetrics(o.Registerer, o.Hub.Metrics()), mux: http.NewServeMux(), releases: o.Releases, lookup: o.Lookup, public: o.PublicURL, live: o.LiveFiles}
	if s.lookup == nil {
		s.lookup = &lookup.Finder{List: o.Releases}
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.auth.None {
		s.log.Warn("the hub is open to everybody who reaches it: it checks no tokens (--hub-auth=none); use that in labs only")
	}
	operations, err := protocol.Operations()
	if err != nil {
		return nil, err
	}
	if s.document, err = openapi.Document(version.Release()); err != nil {
		return nil, err
	}
	if s.bodies, err = protocol.NewBodies(); err != nil {
		return nil, err
	}
	for _, op := range operations {
		s.mux.Handle(op.Method+" "+Base+op.Path, s.operation(op))
	}
	s.mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	s.mux.HandleFunc("GET "+names.AskedPath, func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this is Ironflow", http.StatusGone)
	})
	s.mux.HandleFunc("GET /ready", s.ready)
	s.mux.Handle("GET /metrics", s.hub.Metrics().Handler())
	for _, path := range documentPaths {
		s.mux.HandleFunc("GET "+path, s.serveDocument)
	}
	s.mux.HandleFunc("/", s.unknown)
	return s, nil
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	// The protocol's names of headers hold underscores, which Go keeps as they are.
	defer s.recover(w, r)
	if s.auth.None {
		w.Header().Set(wire.HeaderAuth, "none")
	}
	s.mux.ServeHTTP(w, r)
}

// idleTimeout is how long a connection is kept that nobody uses: longer than most steps take on a host,
// and than the pauses of hosts on their way to an installation, which go on with the same connection.
// Hosts at rest (60 s and more) open another one: an open connection takes 24 to 38 KiB, so 10,000 of
// them more than half of rss_mib in `make bench-hub`. Pauses are whole seconds: this is none, or a
// connection would be closed at the very moment at which its host sends something.
const idleTimeout = 12500 * time.Millisecond

// HTTPServer returns an http.Server with this API and deadlines that hostile
// clients cannot stretch. Uploads have their own, longer one.
func (s *Server) HTTPServer() *http.Server {
	return &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
}

func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 5*time.Second)
	defer cancel()
	if err := s.hub.Ready(ctx); err != nil {
		writeError(w, http.StatusServiceUnavailable, "the hub's store does not answer")
	}
}

// unknown answers paths that the protocol does not have, and methods that a path does not have.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	for _, method := range methods {
		probe := r.Clone(r.Context())
		probe.Method = method
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" {
			writeError(w, http.StatusMethodNotAllowed, "method "+clip(r.Method)+" is not allowed here")
			return
		}
	}
	writeError(w, http.StatusNotFound, "path "+clip(r.URL.Path)+" was not found")
}

// clip bounds what is repeated of a request in an answer.
func clip(text string) string {
	if len(text) > 200 {
		text = text[:200] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}

// recover turns a bug into a 500 of this one request.
func (s *Server) recover(w http.ResponseWriter, r *http.Request) {
	if p := recover(); p != nil {
		if err, ok := p.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			panic(p) //nolint:forbidigo // net/http's own way to break a connection off
		}
		s.log.Error("a request made the hub panic", "method", r.Method, "path", clip(r.URL.Path), "panic", p, "stack", string(debug.Stack()))
		writeError(w, http.StatusInternalServerError, "the hub has a bug; see its log")
	}
}

// operation serves one operation: authentication, then the handler, then the answer.
func (s *Server) operation(op protocol.Operation) http.Handler {
	handle := handlers[op.ID]
	return s.metrics.count(op.ID, func(w http.ResponseWriter, r *http.Request) {
		caller, refused, err := s.auth.check(r, op, s.hub)
		switch {
		case err != nil:
			s.fail(w, r, op, err)
			return
		case refused != nil:
			writeRefused(w, op, *refused)
			s.audit(w, r, op, caller.user)
			return
		}
		if handle == nil {
			writeError(w, http.StatusNotImplemented, "operation "+op.ID+" is not served by this hub; docs/hub.md lists those that are")
			return
		}
		defer s.audit(w, r, op, caller.user)
		if err := op.CheckQuery(r.URL.Query()); err != nil {
			s.fail(w, r, op, err)
			return
		}
		req := &request{
			Request: r, hub: s.hub, caller: caller, w: w, releases: s.releases, lookup: s.lookup, public: s.public, live: s.live, key: s.auth.Key,
			limits: &s.limits,
		}
		req.bodies, req.operationID = s.bodies, op.ID
		defer req.doneWithBody()
		body, err := handle(req)
		if service.IsNotFound(err) {
			body, err = req.lost(err)
		}
		if err != nil {
			s.fail(w, r, op, err)
			return
		}
		s.answer(w, r, op, body)
	})
}

func (s *Server) fail(w http.ResponseWriter, r *http.Request, op protocol.Operation, err error) {
	if wrong, ok := errors.AsType[*protocol.BodyError](err); ok {
		// What breaks the document itself has a form of its own, which clients of the protocol know.
		writeInfraError(w, wire.InfraError{Code: http.StatusBadRequest, Message: wrong.Error()})
		return
	}
	code := service.Code(err)
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		err, code = errors.New("the body is larger than "+byteCount(tooLarge.Limit)), http.StatusRequestEntityTooLarge
	}
	_, refused := errors.AsType[*service.Error](err) // on purpose, with a reason for people
	after := retryAfter
	if busy, ok := errors.AsType[*service.BusyError](err); ok {
		refused, after, err = true, strconv.FormatInt(busy.Seconds(), 10), busy
	}
	if code >= http.StatusInternalServerError && !refused && r.Context().Err() == nil { // whoever is gone is no failure
		s.log.Error("an operation failed", "operation", op.ID, "error", err)
	}
	switch code {
	case http.StatusInternalServerError:
		writeError(w, code, "the hub could not do this; see its log")
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", after)
		reason := "the hub cannot do this at the moment; ask again"
		if refused {
			reason = err.Error()
		}
		writeError(w, code, reason)
	case http.StatusUnauthorized, http.StatusForbidden: // the protocol has one model for refusals of either kind
		writeRefused(w, op, wire.InfraError{Code: int64(code), Message: err.Error()})
	default:
		writeError(w, code, err.Error())
	}
}

// nothing is the answer of an operation that has nothing to say this time.
type nothing struct{}

// file is an answer that is a download.
type file struct {
	name    string
	archive *files.Archive
	raw     []byte
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, op protocol.Operation, body any) {
	switch b := body.(type) {
	case nil:
		w.WriteHeader(op.Success)
	case nothing:
		w.WriteHeader(op.Empty)
	case *file:
		b.serve(w, r)
	case *logBundle:
		s.sendBundle(w, r, op, b)
	case list:
		s.stream(w, r, op, b.framed())
	case *withHosts:
		s.streamCluster(w, r, op, b)
	default:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(op.Success)
		if err := json.NewEncoder(w).Encode(shown(b)); err != nil && r.Context().Err() == nil {
			s.log.Warn("an answer could not be sent", "operation", op.ID, "error", err)
		}
	}
}
