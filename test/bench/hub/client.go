package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
)

// userToken opens the API for the bench as a user.
const userToken = "the-user-of-the-bench"

const (
	// agentPatience is how long an agent waits for an answer.
	agentPatience = 30 * time.Second
	// userPatience is the same of the bench as a user, who asks for long lists.
	userPatience = time.Minute
)

// client has one connection of its own, as an agent has.
type client struct {
	url  string
	http *http.Client
	// load counts what becomes of calls; nil for a user's. refused are the calls of this client that were refused, in
	// their order.
	load    *load
	refused []string
	// waited is the latest Retry-After that it obeyed, or empty.
	waited string
	// own is the token of its own that the host was given at its registration.
	own string
}

// newClient makes the client of a machine.
func (l *load) newClient() *client {
	c := newClient(l.URL, l.roots, agentPatience)
	c.load = l
	return c
}

func newClient(url string, roots *x509.CertPool, patience time.Duration) *client {
	return &client{url: url, http: &http.Client{Timeout: patience, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, MaxIdleConnsPerHost: 1, IdleConnTimeout: 5 * time.Minute,
		ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10,
	}}}
}

// trust reads the hub's authority.
func trust(file string) *x509.CertPool {
	pool := x509.NewCertPool()
	raw, err := os.ReadFile(file)
	if err == nil {
		pool.AppendCertsFromPEM(raw)
	}
	return pool // without it the first call says what is wrong
}

func (c *client) close() { c.http.CloseIdleConnections() }

// ids are taken out of the errors' paths, so that the same errors are counted together.
var ids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// failure is the error of a call.
func failure(method, path, why string) error {
	return fmt.Errorf("%s %s: %s", method, ids.ReplaceAllString(path, "ID"), ids.ReplaceAllString(why, "ID"))
}

// errDeadline ends a call that was not answered in time.
var errDeadline = errors.New("it was not answered in time")

// busyError is a refusal of a hub that has too much to do.
type busyError struct {
	error

	after time.Duration
}

// do makes a call below /v2 and decodes the answer into out. It obeys a hub that tells it to come later.
func (c *client) do(ctx context.Context, token, method, path string, in, out any) error {
	for {
		err := c.try(ctx, token, method, path, in, out)
		busy, ok := errors.AsType[*busyError](err)
		if !ok || c.load == nil {
			return err
		}
		c.refused = append(c.refused, callName(method, path, in))
		c.load.refused(c.refused)
		c.waited = strconv.FormatInt(int64(busy.after/time.Second), 10)
		// As the agent does: up to a quarter later.
		if !wait(ctx, time.Duration(float64(busy.after)*(1+rand.Float64()/4))) { //nolint:gosec // it is no secret
			return ctx.Err()
		}
	}
}

// callName is the same for all hosts.
func callName(method, path string, in any) string {
	name := method + " " + ids.ReplaceAllString(path, "ID")
	if reply, ok := in.(wire.StepReply); ok {
		name += " " + string(reply.StepType)
	}
	return name
}

// try makes a call once.
func (c *client) try(ctx context.Context, token, method, path string, in, out any) error {
	var body io.Reader = http.NoBody
	if in != nil {
		body = bytes.NewReader([]byte(text(in)))
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url+rest.Base+"/v2"+path, body)
	if err != nil {
		return err
	}
	if token == userToken {
		r.Header.Set("Authorization", "Bearer "+token)
	} else {
		r.Header.Set(wire.HeaderAgentToken, token)
	}
	r.Header.Set("Content-Type", "application/json")
	if _, ok := in.(wire.HostCreateParams); ok {
		r.Header.Set(wire.HeaderHostToken, wire.HostTokenWanted)
	}
	if c.waited != "" { // it boots within the ten minutes in which our agent says so
		r.Header.Set(wire.HeaderWaited, c.waited)
	}
	// The hub may close a connection at the moment at which a call is sent. Agents send it once more, and the hub
	// takes what it has for the same: the key without a value tells this to net/http and is not sent.
	r.Header["Idempotency-Key"] = nil
	answer, err := c.http.Do(r)
	if ctx.Err() == nil && os.IsTimeout(err) && c.load != nil {
		c.load.late()
		return errDeadline
	}
	if err != nil {
		return failure(method, path, err.Error())
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return failure(method, path, err.Error())
	}
	if after, err := strconv.Atoi(answer.Header.Get("Retry-After")); err == nil && answer.StatusCode == http.StatusServiceUnavailable {
		return &busyError{failure(method, path, answer.Status), time.Duration(after) * time.Second}
	}
	if answer.StatusCode >= 300 {
		return failure(method, path, fmt.Sprintf("%s: %.300s", answer.Status, raw))
	}
	if own := answer.Header.Get(wire.HeaderHostToken); own != "" {
		c.own = own
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
