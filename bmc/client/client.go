package client

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/stmcginnis/gofish"
)

// Client talks to one BMC. Its methods may be called by many at once.
type Client struct{}

// Answer is a success.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
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

var errLater = errors.New("not there yet")

// New makes a client. It does no I/O; an unusable URL, CA or pin is an error.
func New(target Target, options Options) (*Client, error) { return nil, errLater }

// Get reads a resource into a struct, best one of values of bmc/lenient. A wrong
// type gives a zero value and no error; what is not JSON is [Broken].
func (c *Client) Get(ctx context.Context, path string, into any) error { return errLater }

// GetRaw reads a resource as it is.
func (c *Client) GetRaw(ctx context.Context, path string) (*Answer, error) { return nil, errLater }

// Members lists the paths of a collection's members over all of its pages, at most
// limit of them (0: no limit but that of the pages). Complete is false when there
// are, or may be, more.
func (c *Client) Members(ctx context.Context, path string, limit int) (paths []string, complete bool, err error) {
	return nil, false, errLater
}

// Post creates something or runs an action. A body of nil is sent as {}.
func (c *Client) Post(ctx context.Context, path string, body any) (*Answer, error) {
	return nil, errLater
}

// Patch changes properties of a resource. If-Match is sent and left out as BMCs want it.
func (c *Client) Patch(ctx context.Context, path string, body any) (*Answer, error) {
	return nil, errLater
}

// Delete removes a resource.
func (c *Client) Delete(ctx context.Context, path string) (*Answer, error) { return nil, errLater }

// Stream opens a stream of server-sent events. It ends with the context or Close.
func (c *Client) Stream(ctx context.Context, path string) (io.ReadCloser, error) {
	return nil, errLater
}

// Gofish is typed access over the same transport, session and limits. What it
// returns is good for as long as ctx is.
func (c *Client) Gofish(ctx context.Context) (*gofish.APIClient, error) { return nil, errLater }

// Connection is what the last connections have shown.
func (c *Client) Connection() Connection { return Connection{} }

// Requests is how many requests were made.
func (c *Client) Requests() int64 { return 0 }

// Verify proves a password of the target's user: it opens a new session, reads with
// it, and ends it. There is one attempt.
func (c *Client) Verify(ctx context.Context, password Secret) error { return errLater }

// Close ends our session. The client is of no use afterwards.
func (c *Client) Close(ctx context.Context) error { return errLater }
