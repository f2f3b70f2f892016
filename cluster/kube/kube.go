// Package kube is a small client of the Kubernetes API over net/http: lists, watches,
// and the few writes of a program that approves, labels and says. It knows no kinds;
// callers decode what they need. client-go with its typed clients makes a program of
// 25 MiB, which is more than this one may have.
package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Deadlines and bounds of exchanges.
const (
	exchangeTimeout = 30 * time.Second
	maxBody         = 32 << 20
	maxReason       = 512
)

// Client calls one API server. It is safe for concurrent use.
type Client struct {
	base   string
	http   *http.Client
	watch  *http.Client
	access Access
	// Requests counts requests by verb and status code; nil counts nothing. A watch
	// counts once, when it is opened.
	Requests func(verb string, code int)
}

// StatusError is an answer that is not the expected one.
type StatusError struct {
	Verb, Path string
	Code       int
	Reason     string
}

// Error implements error.
func (e *StatusError) Error() string {
	return fmt.Sprintf("the Kubernetes API answered %d %s to %s %s: %s", e.Code, http.StatusText(e.Code), e.Verb, e.Path, e.Reason)
}

// Code is the status of the answer that err wraps; 0 when there was none.
func Code(err error) int {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Code
	}
	return 0
}

// Get reads an object or a path of the server.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.do(ctx, http.MethodGet, path, "", nil, out)
}

// Post creates an object.
func (c *Client) Post(ctx context.Context, path string, in any) error {
	return c.do(ctx, http.MethodPost, path, "application/json", in, nil)
}

// PostFor creates an object, such as a review, and reads the answer.
func (c *Client) PostFor(ctx context.Context, path string, in, out any) error {
	return c.do(ctx, http.MethodPost, path, "application/json", in, out)
}

// Delete deletes an object.
func (c *Client) Delete(ctx context.Context, path string) error {
	return c.do(ctx, http.MethodDelete, path, "", nil, nil)
}

// Put replaces an object or a part of it.
func (c *Client) Put(ctx context.Context, path string, in any) error {
	return c.do(ctx, http.MethodPut, path, "application/json", in, nil)
}

// MergePatch changes an object as RFC 7386 has it.
func (c *Client) MergePatch(ctx context.Context, path string, in any) error {
	return c.do(ctx, http.MethodPatch, path, "application/merge-patch+json", in, nil)
}

func (c *Client) do(ctx context.Context, verb, path, contentType string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	var body io.Reader
	if in != nil {
		raw, err := json.Marshal(in)
		if err != nil {
			return fmt.Errorf("encode the request %s %s: %w", verb, path, err)
		}
		body = bytes.NewReader(raw)
	}
	answer, err := c.send(ctx, c.http, verb, path, contentType, body)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if out == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, maxBody)) // keeps the connection
		return nil
	}
	if text, ok := out.(*string); ok {
		raw, err := io.ReadAll(io.LimitReader(answer.Body, maxReason))
		*text = string(raw)
		return err
	}
	if err := json.NewDecoder(io.LimitReader(answer.Body, maxBody)).Decode(out); err != nil {
		return fmt.Errorf("the answer to %s %s cannot be read: %w", verb, path, err)
	}
	return nil
}

// send makes one request; an answer of 300 and more is a [StatusError].
func (c *Client) send(ctx context.Context, client *http.Client, verb, path, contentType string, body io.Reader) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, verb, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", verb, path, err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", cmp.Or(c.access.UserAgent, "ironflow-cluster"))
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if err := c.access.authorize(r); err != nil {
		return nil, err
	}
	answer, err := client.Do(r)
	if err != nil {
		c.count(verb, 0)
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, fmt.Errorf("the Kubernetes API does not answer (%s %s): %w", verb, path, err)
	}
	c.count(verb, answer.StatusCode)
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer, nil
	}
	defer answer.Body.Close()
	raw, _ := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	return nil, &StatusError{Verb: verb, Path: path, Code: answer.StatusCode, Reason: reasonOf(raw)}
}

func (c *Client) count(verb string, code int) {
	if c.Requests != nil {
		c.Requests(verb, code)
	}
}

func reasonOf(raw []byte) string {
	var status struct{ Message string }
	text := string(raw)
	if json.Unmarshal(raw, &status) == nil && status.Message != "" {
		text = status.Message
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) > maxReason {
		text = strings.ToValidUTF8(text[:maxReason], "") + " …"
	}
	return text
}
