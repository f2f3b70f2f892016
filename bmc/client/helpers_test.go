package client_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/client"
)

// quiet takes what a server says of connections that its clients end.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// fake is a small BMC that a test makes behave as it needs.
type fake struct {
	mu       sync.Mutex
	password string
	tokens   map[string]bool
	serial   int
	// presented counts the passwords that were shown, refused those that were wrong.
	presented, refused int
	asked              []string // requests, as "GET /path"
	active, most       int      // requests at a time

	// root is the service root's body.
	root string
	// login answers before the fake's own login does; true: it did.
	login func(w http.ResponseWriter, r *http.Request) bool
	// paths answer with credentials proven, free without.
	paths, free map[string]http.HandlerFunc
	// refuse answers who has proven none; nil says 401, and nothing more.
	refuse http.HandlerFunc
}

const plainRoot = `{"@odata.type":"#ServiceRoot.v1_5_0.ServiceRoot","RedfishVersion":"1.6.0","Links":{"Sessions":{"@odata.id":"/redfish/v1/SessionService/Sessions"}}}`

func newFake() *fake {
	return &fake{password: password, tokens: map[string]bool{}, root: plainRoot, paths: map[string]http.HandlerFunc{}, free: map[string]http.HandlerFunc{}}
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	f.asked = append(f.asked, r.Method+" "+r.URL.RequestURI())
	f.active++
	f.most = max(f.most, f.active)
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		f.active--
		f.mu.Unlock()
	}()
	switch {
	case f.free[r.URL.Path] != nil:
		f.free[r.URL.Path](w, r)
	case strings.TrimRight(r.URL.Path, "/") == "/redfish/v1":
		body(w, http.StatusOK, f.root)
	case r.Method == http.MethodPost && r.URL.Path == sessions:
		f.open(w, r)
	case !f.allowed(r):
		if f.refuse != nil {
			f.refuse(w, r)
			return
		}
		body(w, http.StatusUnauthorized, "")
	case r.Method == http.MethodDelete && strings.HasPrefix(r.URL.Path, sessions+"/"):
		f.mu.Lock()
		delete(f.tokens, strings.TrimPrefix(r.URL.Path, sessions+"/"))
		f.mu.Unlock()
		w.WriteHeader(http.StatusNoContent)
	case f.paths[r.URL.Path] != nil:
		f.paths[r.URL.Path](w, r)
	default:
		body(w, http.StatusOK, `{"@odata.id":"`+r.URL.Path+`"}`)
	}
}

func (f *fake) open(w http.ResponseWriter, r *http.Request) {
	var in struct{ Password string }
	_ = json.NewDecoder(r.Body).Decode(&in)
	f.mu.Lock()
	f.presented++
	f.mu.Unlock()
	if f.login != nil && f.login(w, r) {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if in.Password != f.password {
		f.refused++
		body(w, http.StatusUnauthorized, "")
		return
	}
	f.serial++
	token := fmt.Sprintf("token-%d", f.serial)
	f.tokens[token] = true
	w.Header().Set("X-Auth-Token", token)
	w.Header().Set("Location", sessions+"/"+token)
	body(w, http.StatusCreated, `{}`)
}

func (f *fake) allowed(r *http.Request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, given, ok := r.BasicAuth(); ok {
		f.presented++
		if given != f.password {
			f.refused++
		}
		return given == f.password
	}
	return f.tokens[r.Header.Get("X-Auth-Token")]
}

func (f *fake) forgetSessions() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.tokens)
}

func (f *fake) setPassword(to string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.password = to
}

// requests are those that were made since the last look.
func (f *fake) requests() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := f.asked
	f.asked = nil
	return asked
}

// counts are the passwords that were shown, those that were wrong, and the sessions that are open.
func (f *fake) counts() (presented, refused, open int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.presented, f.refused, len(f.tokens)
}

func body(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// message is an error's body with one message.
func message(id, text string, args ...string) string {
	raw, _ := json.Marshal(map[string]any{"error": map[string]any{
		"code": "Base.1.18.GeneralError", "message": "See @Message.ExtendedInfo.",
		"@Message.ExtendedInfo": []any{map[string]any{"MessageId": id, "Message": text, "MessageArgs": args, "Resolution": "Do better."}},
	}})
	return string(raw)
}

func answers(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { body(w, status, text) }
}

// serve starts a handler over TLS and gives a target for it.
func serve(t *testing.T, h http.Handler) client.Target {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(server.Close)
	return client.Target{URL: server.URL, Username: user, Password: password, TLS: client.Trust{Insecure: true}}
}

// inside serves a handler without a network, as testing/synctest needs it.
func inside(t *testing.T, h http.Handler, options client.Options) *client.Client {
	t.Helper()
	return insideBasic(t, h, options, false)
}

func insideBasic(t *testing.T, h http.Handler, options client.Options, basic bool) *client.Client {
	t.Helper()
	options.Dial = pipe(t, h).dial
	c, err := client.New(client.Target{URL: "http://bmc.example", Username: user, Password: password, Basic: basic}, options)
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

// pipe serves a handler over pipes.
func pipe(t *testing.T, h http.Handler) *pipes {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	server := &http.Server{Handler: h, ErrorLog: quiet()}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	return l
}

// elapse lets time go by in a bubble of testing/synctest.
func elapse(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of testing/synctest: nobody waits
}

func contextFor(t *testing.T, d time.Duration) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithTimeout(t.Context(), d)
}

// pipes is a listener whose connections are pipes.
type pipes struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *pipes) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (l *pipes) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

// Addr implements net.Listener.
func (l *pipes) Addr() net.Addr { return &net.TCPAddr{} }
