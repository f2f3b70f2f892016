package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/stmcginnis/gofish"
)

// Gofish is typed access over the same transport, session and limits. What it
// returns, and what is fetched through it, is good for as long as ctx is. [KindOf]
// knows its errors too.
func (c *Client) Gofish(ctx context.Context) (*gofish.APIClient, error) {
	c.mu.Lock()
	typed := c.typed
	c.mu.Unlock()
	if typed == nil {
		var err error
		typed, err = gofish.ConnectContext(ctx, gofish.ClientConfig{
			Endpoint: c.at.base(), HTTPClient: &http.Client{Transport: &typedTransport{c}}, NoModifyTransport: true,
			// The client itself keeps the limits and the connections.
			ReuseConnections: true, MaxConcurrentRequests: int64(c.options.Concurrency),
		})
		if err != nil {
			return nil, fmt.Errorf("connect gofish to the BMC at %s: %w", c.at.address(), err)
		}
		c.mu.Lock()
		c.typed = typed
		c.mu.Unlock()
	}
	return typed.WithContext(ctx), nil
}

// typedTransport makes gofish's requests the client's calls. Credentials are the
// client's affair; gofish has none.
type typedTransport struct{ c *Client }

// maxRequest bounds what gofish may send: no firmware images through this client.
const maxRequest = 1 << 20

// RoundTrip implements http.RoundTripper. Refusals come back as answers, without
// secrets, so that gofish makes its own errors of them.
func (t *typedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	c := t.c
	k, err := c.call(r.Method, r.URL.RequestURI())
	if err != nil {
		return nil, err
	}
	if k.body, err = drain(r.Body); err != nil {
		return nil, err
	}
	k.header = passedOn(r)
	c.keepSecrets(&k)
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		done, err := c.turns.write(r.Context())
		if err != nil {
			return nil, c.ended(k, err, "waiting for other changes of the BMC")
		}
		defer done()
	}
	answer, err := c.run(r.Context(), k)
	if e, is := errors.AsType[*Error](err); is && e.Status >= http.StatusBadRequest && !ownVerdict[e.Kind] {
		return response(r, e.Status, http.Header{"Content-Type": {"application/json"}}, refusal(e)), nil
	}
	if err != nil {
		return nil, err
	}
	return response(r, answer.Status, answer.Header, answer.Body), nil
}

// refusal writes an error as Redfish has it: what the BMC sent may hold secrets, in
// more forms than can be searched.
func refusal(e *Error) []byte {
	infos := make([]map[string]any, 0, len(e.Messages))
	for _, m := range e.Messages {
		infos = append(infos, map[string]any{
			"MessageId": m.ID, "Message": m.Text, "MessageArgs": m.Args, "Resolution": m.Resolution, "Severity": m.Severity, "RelatedProperties": m.Properties,
		})
	}
	raw, err := json.Marshal(map[string]any{"error": map[string]any{"code": e.MessageID, "message": e.Message, extendedInfo: infos}})
	if err != nil { // texts only
		return []byte(`{}`)
	}
	return raw
}

// ownVerdict are the kinds that only the client itself can tell.
var ownVerdict = map[Kind]bool{Credentials: true, LockedOut: true, PasswordChange: true}

// passedOn are the headers that gofish decides on. An action takes no If-Match: the
// tag is that of another resource.
func passedOn(r *http.Request) http.Header {
	header := http.Header{}
	for _, name := range []string{"If-Match", "If-None-Match", "Content-Type"} {
		if value := r.Header.Get(name); value != "" && (name != "If-Match" || r.Method != http.MethodPost) {
			header.Set(name, value)
		}
	}
	return header
}

func drain(body io.ReadCloser) ([]byte, error) {
	if body == nil || body == http.NoBody {
		return nil, nil
	}
	defer body.Close()
	return bounded(body, maxRequest)
}

func response(r *http.Request, status int, header http.Header, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: strconv.Itoa(status) + " " + http.StatusText(status), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}
}
