package client

import (
	"errors"
	"net"
	"net/http"
	"time"
)

const (
	dialTimeout = 10 * time.Second
	// idleTimeout ends connections that are not used: BMCs have few, and some reset
	// those that were idle for longer.
	idleTimeout = 10 * time.Second
	// maxHeader bounds an answer's header.
	maxHeader    = 64 << 10
	maxRedirects = 3
)

var (
	errRedirect     = errors.New("a redirect to another place is not followed")
	errRedirectVerb = errors.New("a redirect that turns a change into a read is not followed")
	errRedirects    = errors.New("too many redirects")
)

// newHTTP makes the HTTP client of one BMC. Its transport is shared with nobody.
func newHTTP(at place, v *verifier, options Options) *http.Client {
	dial := options.Dial
	if dial == nil {
		dial = (&net.Dialer{Timeout: dialTimeout}).DialContext
	}
	transport := &http.Transport{
		DialContext: dial, TLSClientConfig: v.config(), TLSHandshakeTimeout: dialTimeout, DisableCompression: true,
		MaxIdleConnsPerHost: options.Concurrency, IdleConnTimeout: idleTimeout, MaxResponseHeaderBytes: maxHeader,
	}
	return &http.Client{
		Transport: &counting{transport},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case placeOf(req.URL) != at || req.URL.User != nil:
				return errRedirect
			case req.Method != via[0].Method:
				return errRedirectVerb
			case len(via) > maxRedirects:
				return errRedirects
			}
			return nil
		},
	}
}

// counting counts the requests that are made, redirects included, by their context.
type counting struct{ next *http.Transport }

// RoundTrip implements http.RoundTripper.
func (c *counting) RoundTrip(r *http.Request) (*http.Response, error) {
	CountRequest(r.Context())
	return c.next.RoundTrip(r)
}

// CloseIdleConnections closes what is open and unused.
func (c *counting) CloseIdleConnections() { c.next.CloseIdleConnections() }
