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

// Client talks to one BMC about one of its systems. Its methods may be called by many at once.
type Client struct {
	*channel

	system string
	turns  *turns
	life   context.Context // it ends with Close
	end    context.CancelFunc
	// leave says that this client is done with the channel, and whether it is the last one. Its
	// pool's lock guards that it has gone.
	leave func() (last bool)
	gone  bool
}

// channel is how one user reaches one BMC: connections, a session, and what is known of both.
// The hosts whose systems a BMC has share it ([Pool]): so it has one session of ours, and a
// wrong password is shown to it once, not once for each host.
type channel struct {
	target  Target
	options Options
	at      place
	http    *http.Client
	turns   *turns // of logins
	shared  *shared
	auth    *auth
	secrets *redactor
	tags    etags
	fresh   recent
	users   int // how many clients use it; its pool's lock guards it

	sessions atomic.Pointer[sessionsAt] // where they are opened

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
	ch, err := newChannel(target, at, options, newShared(options))
	if err != nil {
		return nil, err
	}
	return ch.client(target.System), nil
}

// newChannel makes a channel for the user of a target.
func newChannel(target Target, at place, options Options, with *shared) (*channel, error) {
	target.System = "" // that is each client's own
	v, err := newVerifier(target.TLS, at.name(), options.Now)
	if err != nil {
		return nil, err
	}
	c := &channel{target: target, options: options, at: at, turns: newTurns(options), shared: with, secrets: newRedactor(target)}
	v.seen = c.seenLeaf
	c.http = newHTTP(at, v, options)
	c.auth = &auth{
		target: target, now: options.Now, log: options.Log.With("bmc", at.address()), logout: c.logout, gate: make(chan struct{}, 1),
		login: func(ctx context.Context) (*session, bool, error) { return c.login(ctx, target.Password) },
	}
	return c, nil
}

// client is one of a system. The first one of a channel has its logins among its own
// requests; changes are made one by one over all of them.
func (c *channel) client(system string) *Client {
	made := &Client{channel: c, system: system, turns: c.turns, leave: func() bool { return true }}
	if c.users++; c.users > 1 {
		made.turns = newTurns(c.options)
		made.turns.writes = c.turns.writes
	}
	made.life, made.end = context.WithCancel(context.Background())
	return made
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

func (c *channel) decode(k call, answer *Answer, into any) error {
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
	return call{method: method, path: path, turns: c.turns}, nil
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
func (c *channel) keepSecrets(k *call) {
	k.secrets = secretsOf(k.body)
	for _, secret := range k.secrets {
		c.secrets.add(secret)
	}
}

// Connection is what the last connections have shown.
func (c *channel) Connection() Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.connection
}

func (c *channel) seenLeaf(leaf *x509.Certificate, version uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.connection.Leaf, c.connection.Version = leaf, version
}

func (c *channel) seenDate(header http.Header) {
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
func (c *Client) System() string { return c.system }

// closed is the error of a client that was closed; nil for one that was not.
func (c *Client) closed(k call) error {
	if c.life.Err() == nil {
		return nil
	}
	return c.about(k, errClosed())
}

// Close ends our session, unless other clients use it. The client is of no use afterwards.
func (c *Client) Close(ctx context.Context) error {
	c.end()
	if !c.leave() {
		return nil
	}
	return c.close(ctx)
}

// close ends the session.
func (c *channel) close(ctx context.Context) error {
	defer c.http.CloseIdleConnections()
	held, err := c.auth.close(ctx)
	if err != nil {
		return fmt.Errorf("close the client of the BMC at %s: %w", c.at.address(), err)
	}
	if held == nil {
		return nil
	}
	return c.logout(ctx, held)
}
