package apivip

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

const (
	// accepted is the form that clusters render for.
	accepted = "application/vnd.coreos.ignition+json; version=3.2.0"
	// maxIgnition bounds the download; real ones have some hundred KiB.
	maxIgnition = 16 << 20
)

// download fetches the Ignition and reduces it.
func download(ctx context.Context, client *http.Client, r wire.APIVIPConnectivityRequest) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.URL, http.NoBody)
	if err != nil {
		return "", err
	}
	setHeaders(request, r)
	trusting, end, err := trust(client, r)
	if err != nil {
		return "", err
	}
	defer end()
	careful := *trusting
	careful.CheckRedirect = redirected
	body, err := probe.Fetch(&careful, request, func(status int) bool { return status/100 == 2 }, maxIgnition)
	if err != nil {
		return "", err
	}
	return reduce(body)
}

// setHeaders sets the request's headers; those that the hub asks for override the others.
func setHeaders(request *http.Request, r wire.APIVIPConnectivityRequest) {
	request.Header.Set("Accept", accepted)
	if r.IgnitionEndpointToken != nil && *r.IgnitionEndpointToken != "" {
		request.Header.Set("Authorization", "Bearer "+*r.IgnitionEndpointToken)
	}
	for _, h := range r.RequestHeaders {
		if http.CanonicalHeaderKey(h.Key) == "Host" {
			request.Host = h.Value
			continue
		}
		request.Header.Set(h.Key, h.Value)
	}
}

// maxRedirects is how often an answer may point elsewhere.
const maxRedirects = 10

// redirected decides on a redirect: what the hub wants to be said is said to the
// host that it named, and not in clear where it named TLS.
func redirected(next *http.Request, via []*http.Request) error {
	if len(via) >= maxRedirects {
		return fmt.Errorf("stopped after %d redirects", maxRedirects)
	}
	first := via[0].URL
	if next.URL.Host != first.Host || first.Scheme == "https" && next.URL.Scheme != "https" {
		next.Header = http.Header{"Accept": {accepted}} //nolint:gosec // what the hub wants to be said is dropped here, not handed on
	}
	return nil
}

// trust returns a client that also believes the request's CA, with connections
// of its own, and the function that closes them.
func trust(client *http.Client, r wire.APIVIPConnectivityRequest) (*http.Client, func(), error) {
	pem, err := decodeCA(r)
	if err != nil || pem == nil {
		return client, func() {}, err
	}
	base, ok := client.Transport.(*http.Transport)
	if !ok {
		base, ok = http.DefaultTransport.(*http.Transport)
	}
	if !ok {
		return nil, nil, errors.New("ca_certificate: this client's connections cannot be changed")
	}
	transport := base.Clone()
	if transport.TLSClientConfig == nil {
		transport.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	roots := rootsOf(transport.TLSClientConfig)
	if !roots.AppendCertsFromPEM(pem) {
		return nil, nil, errors.New("ca_certificate holds no certificate in PEM form")
	}
	transport.TLSClientConfig.RootCAs = roots
	own := *client
	own.Transport = transport
	return &own, transport.CloseIdleConnections, nil
}

// rootsOf is a copy of what the client trusts already.
func rootsOf(c *tls.Config) *x509.CertPool {
	if c.RootCAs != nil {
		return c.RootCAs.Clone()
	}
	if system, err := x509.SystemCertPool(); err == nil {
		return system
	}
	return x509.NewCertPool() // a host without certificates of its own still has the given one
}
