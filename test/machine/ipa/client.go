package ipa

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The microversions of Ironic's API that the agent speaks: the newest that the
// real agent knows, the one of the token in a look-up, and the one that carries
// a status message.
const (
	heartbeatMinor = 68
	lookupMinor    = 62
	statusMinor    = 72
	oldestMinor    = 31
)

// maxAnswer bounds an answer of Ironic.
const maxAnswer = 4 << 20

// client talks to Ironic's API for agents. It is not safe for concurrent use,
// but for heartbeats after the look-up.
type client struct {
	urls  []string
	http  *http.Client
	minor int
}

func newClient(c Config, roots *x509.CertPool) *client {
	return &client{urls: c.APIURLs, http: &http.Client{
		Timeout: 30 * time.Second,
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment,
			TLSClientConfig: &tls.Config{
				RootCAs: roots, MinVersion: tls.VersionTLS12,
				InsecureSkipVerify: c.Insecure, //nolint:gosec // the live image's configuration says so
			},
			MaxIdleConnsPerHost: 2,
		},
	}}
}

// refusal is an answer of Ironic that is not the hoped-for one.
type refusal struct {
	code int
	text string
}

func (r *refusal) Error() string { return fmt.Sprintf("Ironic answered %d: %s", r.code, r.text) }

// send makes one request to the first URL that answers. The answer's body goes
// into out unless that is nil. A minor of zero leaves the version header out.
func (c *client) send(ctx context.Context, method string, urls []string, path string, minor int, in, out any) error {
	var body []byte
	if in != nil {
		var err error
		if body, err = json.Marshal(in); err != nil {
			return err
		}
	}
	var failed error
	for _, base := range urls {
		answer, err := c.try(ctx, method, base+path, minor, body)
		if err != nil {
			failed = err
			continue
		}
		return decode(answer, out)
	}
	return failed
}

func (c *client) try(ctx context.Context, method, url string, minor int, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if minor > 0 {
		req.Header.Set("X-OpenStack-Ironic-API-Version", fmt.Sprintf("1.%d", minor))
	}
	return c.http.Do(req)
}

func decode(answer *http.Response, out any) error {
	defer answer.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return &refusal{answer.StatusCode, faultText(raw)}
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("answer of %s: %w", answer.Request.URL.Path, err)
	}
	return nil
}

// faultText finds the human part of Ironic's error answer, which comes as an
// object or as JSON within a string.
func faultText(raw []byte) string {
	var outer struct {
		Message json.RawMessage `json:"error_message"`
	}
	if json.Unmarshal(raw, &outer) != nil || outer.Message == nil {
		return strings.TrimSpace(string(raw))
	}
	inner := []byte(outer.Message)
	var quoted string
	if json.Unmarshal(inner, &quoted) == nil {
		inner = []byte(quoted)
	}
	var fault struct {
		Text string `json:"faultstring"`
	}
	if json.Unmarshal(inner, &fault) == nil && fault.Text != "" {
		return fault.Text
	}
	return string(inner)
}

// negotiate asks for Ironic's newest version, once.
func (c *client) negotiate(ctx context.Context) {
	if c.minor > 0 {
		return
	}
	var root struct {
		Default struct {
			Version string `json:"version"`
		} `json:"default_version"`
	}
	if c.send(ctx, http.MethodGet, c.urls, "/", 0, nil, &root) != nil {
		return
	}
	if _, err := fmt.Sscanf(root.Default.Version, "1.%d", &c.minor); err != nil {
		c.minor = oldestMinor
	}
}

func (c *client) version(want int) int { return min(want, max(c.minor, oldestMinor)) }

// lookupAnswer is what the agent needs of a look-up.
type lookupAnswer struct {
	Node struct {
		UUID string `json:"uuid"`
	} `json:"node"`
	Config struct {
		HeartbeatTimeout float64 `json:"heartbeat_timeout"`
		AgentToken       string  `json:"agent_token"`
	} `json:"config"`
}

// lookup finds the node by the MAC addresses, and by its id when it is known.
func (c *client) lookup(ctx context.Context, macs []string, node string) (lookupAnswer, error) {
	c.negotiate(ctx)
	query := url.Values{"addresses": {strings.Join(macs, ",")}}
	if node != "" {
		query.Set("node_uuid", node)
	}
	var out lookupAnswer
	err := c.send(ctx, http.MethodGet, c.urls, "/v1/lookup?"+query.Encode(), c.version(lookupMinor), nil, &out)
	if err == nil && out.Node.UUID == "" {
		err = errors.New("the look-up was answered without a node")
	}
	return out, err
}

// heartbeat is the body of a heartbeat.
type heartbeat struct {
	CallbackURL   string `json:"callback_url"`
	AgentToken    string `json:"agent_token,omitempty"`
	AgentVersion  string `json:"agent_version"`
	AgentVerifyCA string `json:"agent_verify_ca,omitempty"`
	AgentStatus   string `json:"agent_status,omitempty"`
	StatusMessage string `json:"agent_status_message,omitempty"`
}

func (c *client) heartbeat(ctx context.Context, node string, beat heartbeat) error {
	minor := heartbeatMinor
	if beat.AgentStatus != "" {
		minor = statusMinor
	}
	return c.send(ctx, http.MethodPost, c.urls, "/v1/heartbeat/"+url.PathEscape(node), c.version(minor), beat, nil)
}

// continueInspection posts the inventory and returns the node's id. The real
// agent sends no version with it, and so gets the answer of ironic-inspector.
func (c *client) continueInspection(ctx context.Context, urls []string, data any) (string, error) {
	var out struct {
		UUID string `json:"uuid"`
	}
	err := c.send(ctx, http.MethodPost, urls, "", 0, data, &out)
	return out.UUID, err
}
