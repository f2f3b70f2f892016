package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/ironflow/ironflow/hub/rest"
	"github.com/ironflow/ironflow/hub/wire"
)

// userToken opens the API for the bench as a user.
const userToken = "the-user-of-the-bench"

// callPatience bounds a call.
const callPatience = time.Minute

// client has one connection of its own, as an agent has.
type client struct {
	url  string
	http *http.Client
}

// newClient makes the client of a machine.
func (l *load) newClient() *client { return newClient(l.URL, l.roots) }

func newClient(url string, roots *x509.CertPool) *client {
	return &client{url: url, http: &http.Client{Timeout: callPatience, Transport: &http.Transport{
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

// do makes a call below /v2 and decodes the answer into out.
func (c *client) do(ctx context.Context, token, method, path string, in, out any) error {
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
	// The hub may close a connection at the moment at which a call is sent. Agents send it once more, and the hub
	// takes what it has for the same: the key without a value tells this to net/http and is not sent.
	r.Header["Idempotency-Key"] = nil
	answer, err := c.http.Do(r)
	if err != nil {
		return failure(method, path, err.Error())
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		return failure(method, path, err.Error())
	}
	if answer.StatusCode >= 300 {
		return failure(method, path, fmt.Sprintf("%s: %.300s", answer.Status, raw))
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(raw, out)
}
