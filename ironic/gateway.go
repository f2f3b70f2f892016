package ironic

import (
	"context"
	"net/http"
	"sync"

	"github.com/gophercloud/gophercloud/v2"
)

// Gateway makes calls to one Ironic. All methods are safe for concurrent use,
// return after at most Config.Timeout per request, and are idempotent: repeated
// after a crash they do nothing twice. Methods that fail return an *Error,
// unless their comment names another error.
type Gateway struct {
	config   Config
	http     *http.Client
	metrics  *metrics
	redactor *redactor

	mu     sync.Mutex
	dial   *dialing                   // in progress, if any
	client *gophercloud.ServiceClient // nil until negotiated
	minor  int                        // negotiated microversion, 0 until then

	health health
	bare   bare
	macs   macs
}

// New prepares a gateway. It does not contact Ironic: an Ironic that cannot be
// reached shows as Unavailable on the calls. An error is a mistake in the
// configuration.
func New(_ context.Context, c Config) (*Gateway, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	m, err := newMetrics(c.Registerer)
	if err != nil {
		return nil, err
	}
	g := &Gateway{config: c, metrics: m, redactor: newRedactor(c)}
	base := c.Transport
	if base == nil {
		base = newTLSTransport(c)
	}
	if c.Auth.Basic != nil {
		base = &basicAuth{next: base, basic: *c.Auth.Basic, redactor: g.redactor}
	}
	if c.Wrap != nil {
		base = c.Wrap(base)
	}
	g.http = &http.Client{Transport: base, CheckRedirect: sameHostRedirect}
	return g, nil
}

// Name returns the endpoint's name.
func (g *Gateway) Name() string { return g.config.Name }

// URL returns the endpoint's address, ending in /v1/; empty when only the
// service catalog knows it.
func (g *Gateway) URL() string { return g.config.URL }

// Supports reports whether the negotiated API version has a feature. It is
// false before the first successful call.
func (g *Gateway) Supports(f Feature) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.minor >= featureMinors[f]
}

// APIVersion returns the negotiated microversion, such as "1.110"; empty before
// the first successful call.
func (g *Gateway) APIVersion() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.client == nil {
		return ""
	}
	return g.client.Microversion
}
