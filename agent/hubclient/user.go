package hubclient

import (
	"context"
	"net/http"
	"net/url"
)

// Request is one exchange of a client that is no agent, such as those of an agent-based
// installation: who asks is said by [Options.Header].
type Request struct {
	// Method, and Path below /v2, with its parts escaped.
	Method, Path string
	Query        url.Values
	// In is sent as JSON, Out is what the answer is decoded into; nil for none.
	In, Out any
	// Want is the status of a good answer; zero means 200.
	Want int
	// Header is sent besides the client's, such as the token of one role among several.
	Header http.Header
}

// Do makes the exchange.
func (c *Client) Do(ctx context.Context, r Request) error {
	if r.Want == 0 {
		r.Want = http.StatusOK
	}
	_, err := c.do(ctx, call{method: r.Method, path: r.Path, query: r.Query, in: r.In, out: r.Out, want: r.Want, header: r.Header})
	return err
}

// File fetches a body of at most 16 MiB that is no JSON.
func (c *Client) File(ctx context.Context, path string, query url.Values) ([]byte, error) {
	return c.file(ctx, path, query)
}
