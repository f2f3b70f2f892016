package program

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
	"os"
	"time"

	"github.com/ironflow/ironflow/hub/rest"
)

// User calls the REST API of a hub over TLS.
type User struct {
	// URL is the hub's address.
	URL string

	header http.Header // who calls
	client *http.Client
}

// NewUser makes the user of a token, for the hub at the address. The hub's certificate is of the
// authority in the file.
func NewUser(url, ca, token string) (*User, error) {
	raw, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, errors.New(ca + " has no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	return (&User{URL: url, client: &http.Client{Transport: transport}}).As("Authorization", "Bearer "+token), nil
}

// As is another caller of the same hub, who shows what a header has.
func (u *User) As(header, value string) *User {
	other := &User{URL: u.URL, header: http.Header{}, client: u.client}
	other.header.Set(header, value)
	return other
}

// Close ends its connections.
func (u *User) Close() { u.client.CloseIdleConnections() }

// RefusedError is an answer that is the same however often the call is repeated.
type RefusedError struct{ error }

// Call makes one call, and returns the body of its answer. in is sent as JSON. What is no
// [RefusedError] may pass.
func (u *User) Call(ctx context.Context, method, path string, in any) ([]byte, error) {
	raw, err := json.Marshal(in)
	if err != nil {
		return nil, RefusedError{err}
	}
	r, err := http.NewRequestWithContext(ctx, method, u.URL+rest.Base+"/v2"+path, bytes.NewReader(raw))
	if err != nil {
		return nil, RefusedError{err}
	}
	r.Header = u.header.Clone()
	r.Header.Set("Content-Type", "application/json")
	answer, err := u.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode < http.StatusMultipleChoices {
		return text, err
	}
	err = fmt.Errorf("%s %s: %s: %s", method, path, answer.Status, text)
	if answer.StatusCode < http.StatusInternalServerError {
		return nil, RefusedError{err}
	}
	return nil, err
}

// again is how long a user waits before a call is repeated.
const again = 200 * time.Millisecond

// Until repeats the call until it succeeds, as clients do, and returns the body of the answer. A
// refusal ends it, and so does the context.
func (u *User) Until(ctx context.Context, method, path string, in any) ([]byte, error) {
	for {
		raw, err := u.Call(ctx, method, path, in)
		if _, refused := errors.AsType[RefusedError](err); refused || err == nil {
			return raw, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", context.Cause(ctx), err)
		case <-time.After(again):
		}
	}
}

// Do is [User.Until], and reads the answer into out, if that is not nil.
func (u *User) Do(ctx context.Context, method, path string, in, out any) error {
	raw, err := u.Until(ctx, method, path, in)
	if err != nil || out == nil {
		return err
	}
	return json.Unmarshal(raw, out)
}
