package ironic

import (
	"context"
	"net/http"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

// call describes one request of the gateway.
type call struct {
	op     string // in words, for errors and the metric label "call"
	node   string // UUID or name, for errors
	method string
	path   string // below /v1/, without leading slash
	body   any    // JSON, or nil
	into   any    // pointer for the answer, or nil
}

// do makes one request, with its time-out, metrics and typed error.
func (g *Gateway) do(ctx context.Context, c call) error {
	ctx, cancel := context.WithTimeoutCause(ctx, g.config.Timeout, g.timeoutCause())
	defer cancel()
	client, err := g.service(ctx)
	if err != nil {
		return g.failed(ctx, c, &unreached{err})
	}
	opts := &gophercloud.RequestOpts{
		JSONBody:     c.body,
		JSONResponse: c.into,
		OkCodes:      []int{http.StatusOK, http.StatusCreated, http.StatusAccepted, http.StatusNoContent},
	}
	start := time.Now()
	_, err = client.Request(ctx, c.method, client.Endpoint+c.path, opts) //nolint:bodyclose // closed by the client
	g.metrics.duration.WithLabelValues(g.config.Name, c.op).Observe(time.Since(start).Seconds())
	if err == nil {
		g.metrics.up.WithLabelValues(g.config.Name).Set(1)
		return nil
	}
	if stale(err) {
		g.forget(client)
	}
	return g.failed(ctx, c, err)
}

// unreached is a failure to authenticate or negotiate: the request itself was
// never made.
type unreached struct{ error }

func (u *unreached) Unwrap() error { return u.error }

// failed types an error, counts it and removes secrets from its text.
func (g *Gateway) failed(ctx context.Context, c call, err error) error {
	e := classify(ctx, c, err)
	e.Text = g.redactor.clean(e.Text, c.body)
	g.metrics.errors.WithLabelValues(g.config.Name, c.op, e.Kind.String()).Inc()
	up := 0.0
	if e.Status != 0 && e.Status < http.StatusInternalServerError {
		up = 1
	}
	g.metrics.up.WithLabelValues(g.config.Name).Set(up)
	return e
}

func (g *Gateway) get(ctx context.Context, op, node, path string, into any) error {
	return g.do(ctx, call{op: op, node: node, method: http.MethodGet, path: path, into: into})
}
