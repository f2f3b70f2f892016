package simulator

import (
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// versionHeader carries the API version of a request and the range of an answer.
const versionHeader = "X-OpenStack-Ironic-API-Version"

// oldestMinor is the API version of requests that name none.
const oldestMinor = 1

// routeTable is the API: pattern by handler.
var routeTable = map[string]handler{
	"GET /{$}":                                getVersions,
	"GET /v1/{$}":                             getRoot,
	"GET /v1/drivers":                         listDrivers,
	"GET /v1/nodes":                           listNodes,
	"POST /v1/nodes":                          createNode,
	"GET /v1/nodes/{node}":                    getNode,
	"PATCH /v1/nodes/{node}":                  patchNode,
	"DELETE /v1/nodes/{node}":                 deleteNode,
	"PUT /v1/nodes/{node}/states/provision":   setProvision,
	"PUT /v1/nodes/{node}/states/power":       setPower,
	"PUT /v1/nodes/{node}/states/raid":        setRAID,
	"PUT /v1/nodes/{node}/maintenance":        setMaintenance,
	"DELETE /v1/nodes/{node}/maintenance":     unsetMaintenance,
	"GET /v1/nodes/{node}/validate":           validateNode,
	"GET /v1/nodes/{node}/inventory":          getInventory,
	"GET /v1/nodes/{node}/history":            getHistory,
	"GET /v1/nodes/{node}/bios":               getBIOS,
	"GET /v1/nodes/{node}/firmware":           getFirmware,
	"GET /v1/nodes/{node}/vmedia":             getMedia,
	"POST /v1/nodes/{node}/vmedia":            attachMedia,
	"DELETE /v1/nodes/{node}/vmedia":          detachMedia,
	"GET /v1/nodes/{node}/vendor_passthru":    passthru,
	"POST /v1/nodes/{node}/vendor_passthru":   passthru,
	"DELETE /v1/nodes/{node}/vendor_passthru": passthru,
	"GET /v1/ports":                           listPorts,
	"POST /v1/ports":                          createPort,
	"PATCH /v1/ports/{port}":                  patchPort,
	"DELETE /v1/ports/{port}":                 deletePort,

	"GET /v1/nodes/{node}/management/boot_device": getBootDevice,
}

func (s *Server) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, h := range routeTable {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { s.serve(w, r, h) })
	}
	return mux
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1" {
		r.URL.Path = "/v1/"
	}
	_, pattern := s.mux.Handler(r)
	if pattern == "" {
		pattern = r.Method + " other"
	}
	s.counts.Add(strings.TrimSuffix(pattern, "{$}"))
	s.mu.Lock()
	intercept := s.intercept
	s.mu.Unlock()
	if intercept != nil {
		if f := intercept(r); f != nil {
			s.disturb(w, r, f)
			return
		}
	}
	s.mux.ServeHTTP(w, r)
}

// disturb carries out a fault.
func (s *Server) disturb(w http.ResponseWriter, r *http.Request, f *Fault) {
	if f.Delay > 0 {
		timer := time.NewTimer(f.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			cut()
		}
	}
	if f.Status == 0 && !f.Cut {
		s.mux.ServeHTTP(w, r)
		return
	}
	if f.AfterHandling {
		s.mux.ServeHTTP(discard{}, r)
	}
	if f.Cut {
		cut()
	}
	writeFault(w, f.Status, f.Text)
}

// cut ends a request without an answer.
func cut() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // the way in which net/http lets a handler drop a connection
}

// discard is a response writer for answers that nobody gets.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) WriteHeader(int)             {}

type minorKey struct{}

// minorOf returns the API version of a request.
func minorOf(r *http.Request) int {
	m, _ := r.Context().Value(minorKey{}).(int)
	return m
}

// serve checks credentials and version, then runs the handler under the lock.
func (s *Server) serve(w http.ResponseWriter, r *http.Request, h handler) {
	w.Header().Set("X-OpenStack-Ironic-API-Minimum-Version", "1.1")
	w.Header().Set("X-OpenStack-Ironic-API-Maximum-Version", fmt.Sprintf("1.%d", s.opts.MaxMinor))
	if r.URL.Path != "/" && r.URL.Path != "/v1/" && !s.authorized(r) {
		answer(w, 0, nil, fault(http.StatusUnauthorized, "Incorrect username or password"))
		return
	}
	minor, err := s.version(r)
	if err != nil {
		answer(w, 0, nil, err)
		return
	}
	r = r.WithContext(context.WithValue(r.Context(), minorKey{}, minor))
	s.mu.Lock()
	s.noticed(r)
	status, body, err := h(s, r)
	s.mu.Unlock()
	answer(w, status, body, err)
}

func (s *Server) authorized(r *http.Request) bool {
	if s.opts.Username == "" {
		return true
	}
	user, password, _ := r.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(user+":"+password), []byte(s.opts.Username+":"+s.opts.Password)) == 1
}

func (s *Server) version(r *http.Request) (int, error) {
	text := r.Header.Get(versionHeader)
	if text == "" {
		return oldestMinor, nil
	}
	minor, err := strconv.Atoi(strings.TrimPrefix(text, "1."))
	if err != nil || minor < oldestMinor || minor > s.opts.MaxMinor {
		return 0, fault(http.StatusNotAcceptable,
			"Version %s was requested but is not supported by this service. The supported version range is: [1.1, 1.%d].", text, s.opts.MaxMinor)
	}
	return minor, nil
}
