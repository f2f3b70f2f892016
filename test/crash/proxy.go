package crash

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httputil"
	"net/url"
)

// Proxy stands between the controller and one of its peers. Streams (the watches
// of Kubernetes) pass as they come.
type Proxy struct {
	gate    *Gate
	peer    Peer
	ignore  func(*http.Request) bool
	reverse *httputil.ReverseProxy
}

// ProxyOptions describe one side.
type ProxyOptions struct {
	Peer Peer
	// Target is the peer's address, Transport how it is reached, with credentials.
	Target    *url.URL
	Transport http.RoundTripper
	// Ignore names requests that are passed on without a number, because how often
	// they are made depends on the time; nil for none.
	Ignore func(*http.Request) bool
}

// NewProxy makes the handler for one side.
func NewProxy(gate *Gate, o ProxyOptions) *Proxy {
	p := &Proxy{gate: gate, peer: o.Peer, ignore: o.Ignore}
	p.reverse = &httputil.ReverseProxy{
		Transport:     o.Transport,
		FlushInterval: -1, // a watch's event is delivered when it comes
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(o.Target)
			r.Out.Host = o.Target.Host
		},
		ModifyResponse: func(r *http.Response) error {
			index, numbered := r.Request.Context().Value(indexKey{}).(int)
			if !numbered || p.gate.answered(index, r.StatusCode) {
				return nil
			}
			return errDead
		},
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { cut() },
	}
	return p
}

// indexKey is where a request carries its index in the journal.
type indexKey struct{}

// errDead says that nobody is left to answer.
var errDead = http.ErrAbortHandler

// cut drops the connection without an answer.
func cut() {
	panic(http.ErrAbortHandler) //nolint:forbidigo // the way in which net/http lets a handler drop a connection
}

// ServeHTTP implements http.Handler.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.ignore != nil && p.ignore(r) {
		if !p.gate.alive() {
			cut()
		}
		p.reverse.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		cut() // its sender is gone
	}
	index, sendOn := p.gate.admit(Entry{Peer: p.peer, Method: r.Method, Path: r.URL.Path, Query: r.URL.RawQuery, Body: string(body)})
	if !sendOn {
		cut()
	}
	ctx := r.Context()
	if !stream(r) {
		// What was sent on is carried out, and its answer known, whatever becomes of
		// the sender.
		var done context.CancelFunc
		ctx, done = context.WithCancel(context.WithoutCancel(ctx)) // one that has an end: else the proxy watches the connection
		defer done()
	}
	r = r.WithContext(context.WithValue(ctx, indexKey{}, index))
	r.Body = io.NopCloser(bytes.NewReader(body))
	p.reverse.ServeHTTP(w, r)
}

// stream reports whether the answer has no end of its own.
func stream(r *http.Request) bool { return r.URL.Query().Has("watch") }
