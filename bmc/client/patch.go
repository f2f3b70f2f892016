package client

import (
	"context"
	"errors"
	"net/http"
)

// Patch changes properties of a resource. If-Match holds the tag of the resource as
// it was read last; where a BMC refuses that form, or demands one that is not known,
// the resource is read anew and the other forms are tried.
func (c *Client) Patch(ctx context.Context, path string, body any) (*Answer, error) {
	k, err := c.callWith(http.MethodPatch, path, body)
	if err != nil {
		return nil, err
	}
	done, err := c.turns.write(ctx)
	if err != nil {
		return nil, c.ended(k, err, "waiting for other changes of the BMC")
	}
	defer done()

	used := c.tags.get(k.path)
	answer, err := c.run(ctx, k.matching(used))
	if !onPrecondition(err) {
		return answer, err
	}
	if _, readErr := c.run(ctx, call{method: http.MethodGet, path: k.path, turns: k.turns}); readErr != nil {
		return nil, err
	}
	for _, tag := range matches(used, c.tags.get(k.path)) {
		if answer, err = c.run(ctx, k.matching(tag)); !onPrecondition(err) {
			return answer, err
		}
	}
	return nil, err
}

// matching is the call with If-Match; without it for an empty tag.
func (k call) matching(tag string) call {
	k.header = http.Header{}
	if tag != "" {
		k.header.Set("If-Match", tag)
	}
	return k
}

// onPrecondition reports whether a change failed on If-Match: with the wrong one, or
// for want of one.
func onPrecondition(err error) bool {
	e, is := errors.AsType[*Error](err)
	if !is {
		return false
	}
	switch shortID(e.MessageID) {
	case "PreconditionFailed", "PreconditionRequired":
		return true
	}
	return e.Status == http.StatusPreconditionFailed || e.Status == http.StatusPreconditionRequired
}
