package ironic

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// readyTTL is how long an answer of Ready is reused.
const readyTTL = 5 * time.Second

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

	readyMu  sync.Mutex
	readyAt  time.Time
	readyErr error
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

// Ready asks whether Ironic answers and has a live driver: GET /v1/ and GET
// /v1/drivers. The answer is reused for 5 seconds.
func (g *Gateway) Ready(ctx context.Context) error {
	g.readyMu.Lock()
	defer g.readyMu.Unlock()
	if !g.readyAt.IsZero() && time.Since(g.readyAt) < readyTTL {
		return g.readyErr
	}
	err := g.ready(ctx)
	if ctx.Err() != nil {
		return err // the caller's haste says nothing about Ironic
	}
	g.readyAt, g.readyErr = time.Now(), err
	return err
}

func (g *Gateway) ready(ctx context.Context) error {
	var root struct{}
	if err := g.get(ctx, "probe", "", "", &root); err != nil {
		return err
	}
	var drivers struct {
		Drivers []struct {
			Name  string   `json:"name"`
			Hosts []string `json:"hosts"`
		} `json:"drivers"`
	}
	if err := g.get(ctx, "list drivers", "", "drivers", &drivers); err != nil {
		return err
	}
	if len(drivers.Drivers) == 0 {
		return &Error{
			Kind: Unavailable, Op: "list drivers",
			Text: "no conductor offers a driver: Ironic is starting, or its conductor is down",
		}
	}
	return nil
}
