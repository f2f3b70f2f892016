package ironic

import (
	"context"
	"errors"
)

// lacks reports whether the negotiated API version has not got a feature. When
// Ironic cannot be reached it is false: the call itself will say so.
func (g *Gateway) lacks(ctx context.Context, f Feature) bool {
	if _, err := g.service(ctx); err != nil {
		return false
	}
	return !g.Supports(f)
}

// unsupported is the answer to a call that needs a newer Ironic.
func (g *Gateway) unsupported(op, node string, f Feature) *Error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return &Error{Kind: Rejected, Op: op, Node: node, Text: f.missing(g.minor)}
}

// statusOf returns the HTTP status of an *Error, 0 if there is none.
func statusOf(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Status
	}
	return 0
}
