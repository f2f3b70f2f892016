package simulator

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/ironflow/ironflow/test/bmc/simulator/accounts"
)

// Options configure a Server. The zero value is a BMC without credentials and
// without delays.
type Options struct {
	// Username and Password are asked for, as basic authentication or to open a
	// session, unless Username is empty.
	Username, Password string
	// Accounts are further ones; the first is that of Username and Password, with
	// the ID AccountID ("1" when empty).
	Accounts  []accounts.Account
	AccountID string
	// Policy is what the BMC wants of passwords, and when it locks an account.
	Policy accounts.Policy
	// Certificate is what [Server.TLSConfig] serves; nil makes a self-signed one.
	Certificate *tls.Certificate
	// MaxSessions is how many can be open at a time; zero is any number.
	MaxSessions int
	// SessionTimeout ends sessions that are not used for so long; 30 min when zero.
	SessionTimeout time.Duration
	// Delays are those of systems that bring none of their own.
	Delays Delays
	// Fetch reads the beginning of a virtual medium or of a firmware image, as a
	// BMC does before it accepts one. Its error refuses the medium (status 500) or
	// fails the update's task. Nil accepts every URL unseen: the machine behind
	// will read the medium itself. [Fetcher] makes one that reads over HTTP.
	Fetch func(ctx context.Context, url string) error
	// Identify says what a firmware image is for; nil is [IdentifyByName].
	Identify func(url string) (Image, error)
	// Events delivers events to their destinations; nil is a transport without
	// proxy that checks certificates.
	Events http.RoundTripper
	// EventRetries is how often a failed delivery is repeated before the event is
	// dropped, EventRetryInterval the pause between; 3 and 1 s when zero.
	EventRetries       int
	EventRetryInterval time.Duration
	// MaxSubscriptions is how many destinations there can be, MaxStreams how many
	// event streams; zero is any number.
	MaxSubscriptions, MaxStreams int
	// Log hears one line per change; nil is silent.
	Log *slog.Logger
}

// Delays are how long things take. Zero is at once.
type Delays struct {
	// Power is from a power request until PowerState shows the new state; until
	// then it is PoweringOn or PoweringOff.
	Power time.Duration
	// POST is from power on until the firmware is done: then BootProgress is
	// OSRunning, BIOS settings and what waits for a reset are applied, and a
	// one-time boot override is used up.
	POST time.Duration
	// Task is how long each task runs.
	Task time.Duration
	// Restart is how long the BMC answers 503 after an update of its own firmware
	// or a reset of the manager.
	Restart time.Duration
	// Slow is the delay of an answer under the quirk [Slow]; 5 s when zero.
	Slow time.Duration
	// Answer is what every answer takes.
	Answer time.Duration
}

const (
	defaultSessionTimeout = 30 * time.Minute
	defaultSlow           = 5 * time.Second
	defaultEventRetries   = 3
	defaultEventInterval  = time.Second
	// fetchBytes is how much of an image a BMC reads before it accepts it.
	fetchBytes = 64 << 10
)

func (o *Options) complete() {
	if o.SessionTimeout == 0 {
		o.SessionTimeout = defaultSessionTimeout
	}
	if o.Identify == nil {
		o.Identify = IdentifyByName
	}
	if o.Events == nil {
		o.Events = &http.Transport{TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second, MaxIdleConnsPerHost: 2}
	}
	if o.EventRetries == 0 {
		o.EventRetries = defaultEventRetries
	}
	if o.EventRetryInterval == 0 {
		o.EventRetryInterval = defaultEventInterval
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

// accountService has the accounts at the start. What is not unique in them is left out.
func (o *Options) accountService() *accounts.Service {
	list := o.Accounts
	if o.Username != "" {
		list = append([]accounts.Account{{ID: cmp.Or(o.AccountID, "1"), UserName: o.Username, Password: o.Password}}, list...)
	}
	b, err := accounts.New(o.Policy, list)
	if err != nil {
		o.Log.Error("the accounts of a BMC cannot be as they were asked for", "error", err)
		b, _ = accounts.New(o.Policy, list[:1]) // one is unique
	}
	return b
}

// Fetcher returns a function for [Options.Fetch] that reads the first 64 KiB of
// an image over HTTP.
func Fetcher(client *http.Client) func(ctx context.Context, url string) error {
	return func(ctx context.Context, url string) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return err
		}
		answer, err := client.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		if answer.StatusCode >= http.StatusBadRequest {
			return &fetchError{answer.Status}
		}
		_, err = io.CopyN(io.Discard, answer.Body, fetchBytes)
		if err == io.EOF { //nolint:errorlint // CopyN returns it as it is: the image is smaller
			return nil
		}
		return err
	}
}

// fetchError is an image server's refusal.
type fetchError struct{ status string }

func (e *fetchError) Error() string { return "the image server answers " + e.status }
