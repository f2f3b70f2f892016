package simulator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// maxBody bounds a request.
const maxBody = 1 << 20

// call is one request. For GET the server's lock is held, else it is not.
type call struct {
	s       *Server
	r       *http.Request
	pattern string
	sys     *system // of the path, nil for what systems share
	of      *system // whose quirks there are: sys, else the only one, or nil
	// body is what the request brought, empty if nothing.
	body object
	// bodiless says that it brought nothing.
	bodiless bool
}

// handler answers one kind of request.
type handler func(c *call) (reply, error)

// serverKey is under which the multiplexer finds the server of a request.
type serverKey struct{}

// mux is the multiplexer of all servers: thousands of them would need much memory
// for one each.
var mux = sync.OnceValue(func() *http.ServeMux {
	mux := http.NewServeMux()
	for _, table := range routeTables {
		for pattern, h := range table {
			mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				if s, ok := r.Context().Value(serverKey{}).(*Server); ok {
					s.serve(w, r, pattern, h)
				}
			})
		}
	}
	return mux
})

// routeTables are the API by topic: pattern by handler.
var routeTables = []map[string]handler{
	serviceRoutes, sessionRoutes, accountRoutes, systemRoutes, biosRoutes, mediaRoutes, storageRoutes, chassisRoutes, managerRoutes, healthRoutes,
	licenceRoutes, certificateRoutes, jobRoutes,
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
	if to, collection := strings.CutSuffix(r.URL.Path, "/Members"); collection && r.Method == http.MethodPost {
		r.URL.Path = to // DSP0266: the same as a POST to the collection
	}
	for _, home := range []string{"Systems", "Managers"} {
		if rest, lower := strings.CutPrefix(r.URL.Path, root+"/"+strings.ToLower(home)+"/"); lower && s.anyCase() {
			r.URL.Path = path(home, rest)
		}
	}
	_, pattern := mux().Handler(r)
	if pattern == "" {
		pattern = r.Method + " other"
	}
	s.counts.Add(pattern)
	if strings.HasSuffix(pattern, " other") {
		s.unknown(w, r)
		return
	}
	mux().ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), serverKey{}, s)))
}

// anyCase says whether addresses are taken in either case.
func (s *Server) anyCase() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.only().has(URICase)
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
	if _, pattern := mux().Handler(probe); pattern != "" && r.Method != http.MethodGet {
		w.Header().Set("Allow", (&call{s: s, r: r}).allowed(pattern))
		err = fault(http.StatusMethodNotAllowed, notAllowed, "%s is not allowed on %s.", r.Method, r.URL.Path)
	}
	refuse(w, err, false)
}

// allowed are the verbs that the path of a pattern takes, for the header Allow.
func (c *call) allowed(pattern string) string {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	_, path, _ := strings.Cut(pattern, " ")
	verbs := []string{http.MethodGet, http.MethodHead}
	for _, verb := range []string{http.MethodPost, http.MethodPatch, http.MethodDelete} {
		if _, ok := lookup(verb + " " + path); ok && c.offered(verb+" "+path) {
			verbs = append(verbs, verb)
		}
	}
	return strings.Join(verbs, ", ")
}

// serve lets quirks and credentials have their say, then runs the handler.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, pattern string, h handler) {
	c := &call{s: s, r: r, pattern: pattern}
	s.mu.Lock()
	if id := r.PathValue("system"); id != "" {
		home, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, root+"/"), "/")
		c.sys = s.behind(home, id)
	}
	c.of = c.sys
	if c.of == nil {
		c.of = s.only()
	}
	o := s.obstacle(c.of, r.URL.Path)
	o.cut = o.cut || s.reused(c.of, r.RemoteAddr)
	single := c.of.has(ExtendedInfoObject)
	c.of.date(w.Header())
	s.enter(c.of, 1)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.enter(c.of, -1)
		s.mu.Unlock()
	}()
	o.wait(r)
	rep, err := c.run(o, h)
	if errors.Is(err, errCut) {
		drop()
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if (err == nil && reads) || (err != nil && asRefusal(err).status == http.StatusMethodNotAllowed) {
		w.Header().Set("Allow", c.allowed(pattern))
	}
	if err != nil {
		refuse(w, err, single)
		return
	}
	c.answer(w, rep)
}

// run is the request's way to its handler.
func (c *call) run(o obstacle, h handler) (reply, error) {
	if o.err != nil {
		return reply{}, o.err
	}
	if rep, err := c.stranger(); rep.body != nil || err != nil {
		return rep, err
	}
	for _, step := range []func() error{c.admit, c.version, c.read, c.object, c.precondition} {
		if err := step(); err != nil {
			return reply{}, err
		}
	}
	return c.handle(h)
}

// version refuses a version of OData that is not the one.
func (c *call) version() error {
	if given := c.r.Header.Get("OData-Version"); given != "" && given != "4.0" {
		return fault(http.StatusPreconditionFailed, "HeaderInvalid", "Header 'OData-Version' is invalid.")
	}
	return nil
}

// object lets the traits object.
func (c *call) object() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return c.objection()
}

// handle runs a handler, with the lock for reads, and lets the traits change what
// comes of it.
func (c *call) handle(h handler) (reply, error) {
	if c.r.Method == http.MethodGet || c.r.Method == http.MethodHead {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		rep, err := h(c)
		c.reshape(c.pattern, rep.body, false)
		return rep, err
	}
	rep, err := h(c)
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.reshape(c.pattern, rep.body, false)
	return rep, err
}

// admit checks the credentials and that the system exists.
func (c *call) admit() error {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	if !open[c.pattern] {
		if err := c.s.authorize(c.r, c.of); err != nil {
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
		c.bodiless = true
		return nil
	}
	if err := json.Unmarshal(raw, &c.body); err != nil {
		return fault(http.StatusBadRequest, malformedJSON, "The request body is not a JSON object: %s", err)
	}
	return nil
}

// precondition checks If-Match against the resource as it is now.
func (c *call) precondition() error {
	if c.r.Method != http.MethodPatch {
		return nil
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	want := c.r.Header.Get("If-Match")
	switch {
	case want == "" && c.of.has(ETagRequired):
		return fault(http.StatusPreconditionRequired, preconditionNeeded, "A change of this resource needs its ETag in If-Match.")
	case want == "" || want == "*":
		return nil
	}
	pattern := "GET " + strings.TrimPrefix(c.pattern, c.r.Method+" ")
	read, ok := lookup(pattern)
	if !ok {
		return nil
	}
	now, err := read(&call{s: c.s, r: c.r, pattern: pattern, sys: c.sys, of: c.of, body: object{}})
	if err != nil {
		return err
	}
	c.reshape(pattern, now.body, true)
	if strings.TrimPrefix(want, "W/") != tag(now.body) {
		return fault(http.StatusPreconditionFailed, preconditionFailed, "The ETag in If-Match is not that of the resource.")
	}
	return nil
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
