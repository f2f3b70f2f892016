package simulator

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
)

// maxBody bounds a request.
const maxBody = 1 << 20

// call is one request. For GET the server's lock is held, else it is not.
type call struct {
	s   *Server
	r   *http.Request
	sys *system // of the path, nil for what systems share
	// body is what the request brought, empty if nothing.
	body object
}

// handler answers one kind of request.
type handler func(c *call) (reply, error)

// routes makes the multiplexer of the table.
func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for _, table := range routeTables {
		for pattern, h := range table {
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, pattern, h) })
		}
	}
	return mux
}

// routeTables are the API by topic: pattern by handler.
var routeTables = []map[string]handler{
	serviceRoutes, sessionRoutes, systemRoutes, biosRoutes, mediaRoutes, storageRoutes, chassisRoutes,
	updateRoutes, taskRoutes, eventRoutes, logRoutes,
}

// lookup finds the handler of a pattern.
func lookup(pattern string) (handler, bool) {
	for _, table := range routeTables {
		if h, ok := table[pattern]; ok {
			return h, true
		}
	}
	return nil, false
}

// open are the patterns that need no credentials.
var open = map[string]bool{
	"GET /redfish": true, "GET /redfish/v1": true, "GET /redfish/v1/odata": true, "GET /redfish/v1/$metadata": true,
	"POST /redfish/v1/SessionService/Sessions": true,
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	r.URL.Path = cmp.Or(strings.TrimRight(r.URL.Path, "/"), "/")
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		pattern = r.Method + " other"
	}
	s.counts.Add(pattern)
	if strings.HasSuffix(pattern, " other") {
		s.unknown(w, r)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// unknown answers what no route answers: 404, or 405 for another verb.
func (s *Server) unknown(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	err := s.authorize(r, nil)
	s.mu.Unlock()
	if err == nil {
		err = notFound(r.URL.Path)
	}
	probe := r.Clone(r.Context())
	probe.Method = http.MethodGet
	if _, pattern := s.mux.Handler(probe); pattern != "" && r.Method != http.MethodGet {
		w.Header().Set("Allow", allowed(pattern))
		err = fault(http.StatusMethodNotAllowed, notAllowed, "%s is not allowed on %s.", r.Method, r.URL.Path)
	}
	refuse(w, err)
}

// allowed are the verbs that the path of a pattern takes, for the header Allow.
func allowed(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	verbs := []string{http.MethodGet, http.MethodHead}
	for _, verb := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, ok := lookup(verb + " " + path); ok {
			verbs = append(verbs, verb)
		}
	}
	return strings.Join(verbs, ", ")
}

// serve lets quirks and credentials have their say, then runs the handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, pattern string, h handler) {
	c := &call{s: s, r: r}
	s.mu.Lock()
	c.sys = s.systems[r.PathValue("system")]
	of := c.sys
	if of == nil {
		of = s.only()
	}
	o := s.obstacle(of)
	s.mu.Unlock()
	o.wait(r)
	err := o.err
	if err == nil {
		err = c.admit(pattern, of)
	}
	if err == nil {
		err = c.read()
	}
	if err == nil {
		err = c.precondition(pattern, of)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	rep, err := c.handle(h)
	if err != nil {
		refuse(w, err)
		return
	}
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		w.Header().Set("Allow", allowed(pattern))
	}
	answer(w, rep)
}

// handle runs a handler, with the lock for reads.
func (c *call) handle(h handler) (reply, error) {
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
	}
	return h(c)
}

// admit checks the credentials and that the system exists.
func (c *call) admit(pattern string, of *system) error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !open[pattern] {
		if err := c.s.authorize(c.r, of); err != nil {
			return err
		}
	}
	if c.sys == nil && c.r.PathValue("system") != "" {
		return notFound(c.r.URL.Path)
	}
	return nil
}

// read decodes the body.
func (c *call) read() error {
	c.body = object{}
	raw, err := io.ReadAll(io.LimitReader(c.r.Body, maxBody))
	if err != nil {
		return fault(http.StatusBadRequest, malformedJSON, "The request could not be read: %s", err)
	}
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, &c.body); err != nil {
		return fault(http.StatusBadRequest, malformedJSON, "The request body is not a JSON object: %s", err)
	}
	return nil
}

// precondition checks If-Match against the resource as it is now.
func (c *call) precondition(pattern string, of *system) error {
	if c.r.Method != http.MethodPatch {
		return nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	want := c.r.Header.Get("If-Match")
	switch {
	case want == "" && of.has(ETagRequired):
		return fault(http.StatusPreconditionRequired, preconditionNeeded, "A change of this resource needs its ETag in If-Match.")
	case want == "" || want == "*":
		return nil
	}
	read, ok := lookup("GET " + strings.TrimPrefix(pattern, c.r.Method+" "))
	if !ok {
		return nil
	}
	now, err := read(&call{s: c.s, r: c.r, sys: c.sys, body: object{}})
	if err != nil {
		return err
	}
	if strings.TrimPrefix(want, "W/") != etag(encode(now.body)) {
		return fault(http.StatusPreconditionFailed, preconditionFailed, "The ETag in If-Match is not that of the resource.")
	}
	return nil
}

// obstacle is what a quirk puts before a request.
type obstacle struct {
	delay time.Duration
	cut   bool
	err   error
}

// obstacle asks the quirks; the lock is held.
func (s *Server) obstacle(sys *system) obstacle {
	var o obstacle
	if sys == nil {
		return o
	}
	if sys.strikes(Slow) {
		o.delay = sys.delays.Slow
		if o.delay == 0 {
			o.delay = defaultSlow
		}
	}
	o.cut = sys.strikes(ConnectionCut)
	if sys.strikes(Unavailable) || time.Now().Before(sys.restarting) {
		o.err = fault(http.StatusServiceUnavailable, unavailableNow, "The service is temporarily unavailable. Retry in 1 seconds.")
	}
	return o
}

// wait holds the request up, and cuts it.
func (o obstacle) wait(r *http.Request) {
	if o.delay > 0 {
		timer := time.NewTimer(o.delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			o.cut = true
		}
	}
	if o.cut {
		panic(http.ErrAbortHandler) //nolint:forbidigo // the way in which net/http lets a handler drop a connection
	}
}

// Patterns are all requests that a server answers, by verb and path pattern, in
// order: the keys of [Server.Counts].
func Patterns() []string {
	var list []string
	for _, table := range routeTables {
		for pattern := range table {
			list = append(list, pattern)
		}
	}
	slices.Sort(list)
	return list
}
