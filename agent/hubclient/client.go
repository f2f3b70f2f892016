// Package hubclient is the host's side of the hub's REST API v2: the handful of
// calls that an agent makes, each with a deadline, bounded bodies and typed
// errors. It does not retry; callers have their own patience. The main type is
// [Client], which is safe for concurrent use and keeps its connections.
package hubclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/hosthttp"
	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/hub/wire"
)

// Deadlines of whole exchanges; package hosthttp bounds their parts.
const (
	exchangeTimeout = 2 * time.Minute
	// uploadTimeout is the hub's own limit for collecting logs.
	uploadTimeout = 10 * time.Minute
)

// maxBody bounds what is read of an answer: an instruction list for a cluster of
// some thousand hosts stays far below.
const maxBody = 16 << 20

const apiPrefix = "/api/assisted-install/v2"

// ErrTimeout is the cause of a call that outlived its exchange.
var ErrTimeout = errors.New("the hub did not finish its answer in time")

// Options say how to reach the hub.
type Options struct {
	// URL is the hub's base URL; a path prefix is kept.
	URL string
	// AgentVersion is the agent's image reference, sent with each call.
	AgentVersion string
	// Attempt tells one run of the deploy step from the next, at most 128
	// characters; sent with registrations, empty sends nothing.
	Attempt string
	// Dir is the host's root, whose certificates count.
	Dir hostfile.Dir
	// CAFile is a PEM bundle of the host that is trusted besides them; optional.
	CAFile string
	// Insecure switches certificate checks off.
	Insecure bool
	// Token is the agent's secret; nil means none.
	Token *Token
	// Header is sent with each call, such as a user's token.
	Header http.Header
}

// Host names the host that a call is about.
type Host struct {
	InfraEnvID string `json:"infra_env_id"`
	HostID     string `json:"host_id"`
}

// Client calls one hub.
type Client struct {
	base    string
	version atomic.Pointer[string]
	attempt string
	waited  waited
	token   *Token
	header  http.Header
	http    *http.Client
}

// CheckURL tells what is wrong with the URL of a hub.
func CheckURL(text string) error {
	_, err := parseURL(text)
	return err
}

func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, fmt.Errorf("hub URL %q: want http(s)://HOST[:PORT][/PREFIX]", text)
	}
	return u, nil
}

// New checks the options and returns a client. It opens no connection.
func New(o Options) (*Client, error) {
	u, err := parseURL(o.URL)
	if err != nil {
		return nil, err
	}
	roots, err := hosthttp.Roots(o.Dir, o.CAFile)
	if err != nil {
		return nil, err
	}
	token := o.Token
	if token == nil {
		token = &Token{}
	}
	c := &Client{
		base:    strings.TrimSuffix(u.String(), "/") + apiPrefix,
		attempt: o.Attempt,
		token:   token,
		header:  o.Header.Clone(),
		http: &http.Client{
			Transport: hosthttp.Transport(roots, o.Insecure),
			// The secret header would follow a redirect to any host.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	c.SetVersion(o.AgentVersion)
	return c, nil
}

// SetVersion changes the image reference that is sent with each call from now on.
func (c *Client) SetVersion(image string) { c.version.Store(&image) }

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ReloadToken reads the token again and tells whether it is a new one.
func (c *Client) ReloadToken() bool { return c.token.Reload() }

// call is one exchange with a JSON body each way.
type call struct {
	method, path string
	query        url.Values
	in, out      any
	want         int
	header       http.Header
}

// do runs the call and returns the answer's headers.
func (c *Client) do(ctx context.Context, call call) (http.Header, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, exchangeTimeout, ErrTimeout)
	defer cancel()
	var body io.Reader
	if call.in != nil {
		raw, err := json.Marshal(call.in)
		if err != nil {
			return nil, fmt.Errorf("encode the request %s %s: %w", call.method, call.path, err)
		}
		body = bytes.NewReader(raw)
	}
	header, raw, err := c.exchange(ctx, call, body, "application/json")
	if err != nil {
		return header, err
	}
	if call.out != nil {
		if err := json.Unmarshal(raw, call.out); err != nil {
			return header, fmt.Errorf("the hub's answer to %s %s cannot be read: %w", call.method, call.path, err)
		}
	}
	return header, nil
}

// exchange sends one request and reads the bounded answer; any other status
// than the wanted one is a [StatusError].
func (c *Client) exchange(ctx context.Context, call call, body io.Reader, contentType string) (http.Header, []byte, error) {
	target := c.base + call.path
	if len(call.query) > 0 {
		target += "?" + call.query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, call.method, target, body)
	if err != nil {
		return nil, nil, fmt.Errorf("%s %s: %w", call.method, call.path, err)
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	maps.Copy(req.Header, c.header)
	maps.Copy(req.Header, call.header)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("X-Request-ID", uuid.NewString())
	if version := *c.version.Load(); version != "" {
		req.Header.Set(wire.HeaderAgentVersion, version)
	}
	if token := c.token.get(); token != "" {
		req.Header.Set(wire.HeaderAgentToken, token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, nil, transportError(ctx, call, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return resp.Header, nil, transportError(ctx, call, err)
	}
	if resp.StatusCode != call.want {
		return resp.Header, nil, &StatusError{Method: call.method, Path: call.path, Code: resp.StatusCode, Reason: reasonOf(raw), RetryAfter: retryAfter(resp.Header, time.Now())}
	}
	if len(raw) > maxBody {
		return resp.Header, nil, fmt.Errorf("the hub's answer to %s %s is larger than %d MiB", call.method, call.path, maxBody>>20)
	}
	return resp.Header, raw, nil
}

// transportError says that the hub could not be reached, without the query.
func transportError(ctx context.Context, call call, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(err, cause) {
		err = cause
	}
	if inner, ok := errors.AsType[*url.Error](err); ok {
		err = inner.Err
	}
	return fmt.Errorf("hub unreachable (%s %s): %w", call.method, call.path, err)
}
