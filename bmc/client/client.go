package client

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Client talks to one BMC. Its methods may be called by many at once.
type Client struct {
	target  Target
	options Options
	at      place
	http    *http.Client
	turns   *turns
	breaker breaker
	auth    *auth
	secrets *redactor
	tags    etags
	fresh   recent

	sessions atomic.Pointer[sessionsAt] // where they are opened
	life     context.Context            // of streams: it ends with Close
	end      context.CancelFunc

	mu         sync.Mutex
	connection Connection
}

// Connection is what the last connections have shown.
type Connection struct {
	// Leaf is the BMC's certificate, also one that was not trusted; nil before the
	// first handshake and without TLS.
	Leaf *x509.Certificate
	// Version is the TLS version, as tls.VersionTLS13.
	Version uint16
	// Skew is how far the BMC's HTTP Date is ahead of our clock, exact to a second.
	// Dated says that it sent one.
	Skew  time.Duration
	Dated bool
}

// New makes a client. It does no I/O; an unusable URL, CA or pin is an error.
func New(target Target, options Options) (*Client, error) {
	options.complete()
	at, err := parsePlace(target.URL)
	if err != nil {
		return nil, err
	}
	v, err := newVerifier(target.TLS, at.host, options.Now)
	if err != nil {
		return nil, err
	}
	c := &Client{target: target, options: options, at: at, turns: newTurns(options), secrets: newRedactor(target)}
	v.seen = c.seenLeaf
	c.http = newHTTP(at, v, options)
	c.life, c.end = context.WithCancel(context.Background())
	c.auth = &auth{
		target: target, now: options.Now, log: options.Log.With("bmc", at.address()), logout: c.logout, gate: make(chan struct{}, 1),
		login: func(ctx context.Context) (*session, bool, error) { return c.login(ctx, target.Password) },
	}
	return c, nil
}

// Get reads a resource into a struct, best one of values of bmc/lenient. A wrong
// type gives a zero value and no error; what is no JSON object is [Broken].
func (c *Client) Get(ctx context.Context, path string, into any) error {
	k, err := c.call(http.MethodGet, path)
	if err != nil {
		return err
	}
	answer, err := c.read(ctx, k)
	if err != nil {
		return err
	}
	return c.decode(k, answer, into)
}

func (c *Client) decode(k call, answer *Answer, into any) error {
	if err := json.Unmarshal(answer.Body, into); err != nil && !lenient.OnlyTypes(err) {
		return c.failure(k, Broken, answer.Status, "the answer is no JSON: "+line(err.Error()))
	}
	return nil
}

// GetRaw reads a resource as it is: its body is a JSON object.
func (c *Client) GetRaw(ctx context.Context, path string) (*Answer, error) {
	k, err := c.call(http.MethodGet, path)
	if err != nil {
		return nil, err
	}
	return c.read(ctx, k)
}

// Post creates something or runs an action. A body of nil is sent as {}. It is never
// repeated, unless the answer proves that nothing was done.
func (c *Client) Post(ctx context.Context, path string, body any) (*Answer, error) {
	if body == nil {
		body = struct{}{} // some BMCs refuse an action without a body
	}
	return c.change(ctx, http.MethodPost, path, body)
}

// Delete removes a resource.
func (c *Client) Delete(ctx context.Context, path string) (*Answer, error) {
	return c.change(ctx, http.MethodDelete, path, nil)
}

// change makes a call when no other change is under way.
func (c *Client) change(ctx context.Context, method, path string, body any) (*Answer, error) {
	k, err := c.callWith(method, path, body)
	if err != nil {
		return nil, err
	}
	done, err := c.turns.write(ctx)
	if err != nil {
		return nil, c.ended(k, err, "waiting for other changes of the BMC")
	}
	defer done()
	return c.run(ctx, k)
}

// call begins a call of a path, which may be a link of the BMC's.
func (c *Client) call(method, link string) (call, error) {
	path, err := c.at.path(link)
	if err != nil {
		// The link itself may hold credentials.
		return call{}, c.failure(call{method: method, path: "a link of the BMC"}, Broken, 0, err.Error())
	}
	return call{method: method, path: path}, nil
}

func (c *Client) callWith(method, link string, body any) (call, error) {
	k, err := c.call(method, link)
	if err != nil || body == nil {
		return k, err
	}
	if k.body, err = encode(body); err != nil {
		return call{}, fmt.Errorf("%s %s: %w", method, k.path, err)
	}
	c.keepSecrets(&k)
	return k, nil
}

// keepSecrets notes the secrets of a call's body, for its own answer and for later ones.
func (c *Client) keepSecrets(k *call) {
	k.secrets = secretsOf(k.body)
	for _, secret := range k.secrets {
		c.secrets.add(secret)
	}
}

// Connection is what the last connections have shown.
func (c *Client) Connection() Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connection
}

func (c *Client) seenLeaf(leaf *x509.Certificate, version uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connection.Leaf, c.connection.Version = leaf, version
}

func (c *Client) seenDate(header http.Header) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return
	}
	skew := date.Sub(c.options.Now().Truncate(time.Second))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connection.Skew, c.connection.Dated = skew, true
}

// System is the path of the target's system; empty where it has to be found.
func (c *Client) System() string { return c.target.System }

// Close ends our session. The client is of no use afterwards.
func (c *Client) Close(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	c.end()
	held, err := c.auth.close(ctx)
	if err != nil {
		return fmt.Errorf("close the client of the BMC at %s: %w", c.at.address(), err)
	}
	if held == nil {
		return nil
	}
	return c.logout(ctx, held)
}
