package replicas_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"
)

// balancer hands calls to replicas in turn. One that does not answer is passed over,
// as a balancer with health checks does; it knows nothing of hosts.
type balancer struct {
	replicas []*url.URL
	next     atomic.Int64
}

// RoundTrip implements [http.RoundTripper]. A call is repeated only if it has not
// reached a replica.
func (b *balancer) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	first := int(b.next.Add(1))
	for i := range b.replicas {
		to := r.Clone(r.Context())
		to.URL.Scheme, to.URL.Host = "http", b.replicas[(first+i)%len(b.replicas)].Host
		if answer, err = http.DefaultTransport.RoundTrip(to); err == nil {
			return answer, nil
		}
	}
	return nil, err
}

// balance returns the address of a balancer before the replicas.
func balance(t *testing.T, addresses ...string) string {
	t.Helper()
	b := &balancer{}
	for _, a := range addresses {
		u, err := url.Parse(a)
		if err != nil {
			t.Fatal(err)
		}
		b.replicas = append(b.replicas, u)
	}
	proxy := &httputil.ReverseProxy{Transport: b, Rewrite: func(*httputil.ProxyRequest) {}}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL
}
