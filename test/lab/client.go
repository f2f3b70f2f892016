package lab

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"maps"
	"net/http"
	"slices"
)

// client is an HTTP client that trusts the lab's authority and, if a user is
// given, sends basic credentials with each request.
func (l *Lab) client(user, password string) *http.Client {
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(l.Authority.PEM)
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	if user == "" {
		return &http.Client{Transport: transport}
	}
	return &http.Client{Transport: basic{transport, user, password}}
}

// basic adds credentials to requests.
type basic struct {
	next           *http.Transport
	user, password string
}

// RoundTrip sends a copy of the request with credentials.
func (b basic) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	request.SetBasicAuth(b.user, b.password)
	return b.next.RoundTrip(request)
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport.
func (b basic) CloseIdleConnections() { b.next.CloseIdleConnections() }

// sortedKeys are the keys of a map in order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
