package kube

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Sink takes what a list or a watch brings. Its methods are called one after the other.
type Sink interface {
	// Replace is given all objects there are.
	Replace(objects []json.RawMessage)
	// Set is given one that is new or has changed.
	Set(object json.RawMessage)
	// Delete is given one that is gone.
	Delete(object json.RawMessage)
	// Absent says that the cluster has no such kind.
	Absent()
}

// pageSize bounds what is held of a list at once.
const pageSize = 250

// watchFor is how long one watch lasts; the server ends it, which costs one request.
const watchFor = 40 * time.Minute

// Follow lists the collection at path and watches it, until the context ends. Failures
// are retried with growing delays and reported. absent is how long to wait before it
// asks again for a kind that the cluster does not have.
func (c *Client) Follow(ctx context.Context, path string, query url.Values, sink Sink, absent func() time.Duration, failed func(error)) {
	failures := 0
	for ctx.Err() == nil {
		version, err := c.list(ctx, path, query, sink)
		for err == nil {
			began := time.Now()
			version, err = c.watchFrom(ctx, path, query, version, sink)
			// A server that hangs up at once is not asked at once again.
			if err == nil && time.Since(began) < time.Second && !pause(ctx, time.Second) {
				return
			}
			if err == nil {
				failures = 0
			}
		}
		if ctx.Err() != nil {
			return
		}
		var delay time.Duration
		switch Code(err) {
		case http.StatusGone:
			continue
		case http.StatusNotFound:
			sink.Absent()
			failures, delay = 0, absent()
		default:
			failures++
			failed(err)
			delay = min(time.Second<<min(failures, 6), time.Minute)
		}
		delay += time.Duration(rand.Int64N(int64(delay)/4 + 1)) //nolint:gosec // spreads requests
		if !pause(ctx, delay) {
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// list reads the collection in pages and returns its version.
func (c *Client) list(ctx context.Context, path string, query url.Values, sink Sink) (string, error) {
	var all []json.RawMessage
	next := ""
	for {
		q := url.Values{"limit": {strconv.Itoa(pageSize)}}
		maps.Copy(q, query)
		if next != "" {
			q.Set("continue", next)
		}
		var page struct {
			Metadata struct{ ResourceVersion, Continue string }
			Items    []json.RawMessage
		}
		if err := c.Get(ctx, path+"?"+q.Encode(), &page); err != nil {
			return "", err
		}
		all = append(all, page.Items...)
		if next = page.Metadata.Continue; next == "" {
			sink.Replace(all)
			return page.Metadata.ResourceVersion, nil
		}
	}
}

// watchFrom follows changes until the server ends the watch, and returns the version
// that it came to.
func (c *Client) watchFrom(ctx context.Context, path string, query url.Values, version string, sink Sink) (string, error) {
	q := url.Values{
		"watch": {"true"}, "allowWatchBookmarks": {"true"}, "resourceVersion": {version},
		"timeoutSeconds": {strconv.Itoa(int(watchFor.Seconds()) + rand.IntN(600))}, //nolint:gosec // spreads requests
	}
	maps.Copy(q, query)
	answer, err := c.send(ctx, c.watch, http.MethodGet, path+"?"+q.Encode(), "", nil)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	lines := json.NewDecoder(answer.Body)
	for {
		var event struct {
			Type   string
			Object json.RawMessage
		}
		switch err := lines.Decode(&event); {
		case errors.Is(err, io.EOF):
			return version, nil
		case err != nil:
			return version, fmt.Errorf("watch %s: %w", path, err)
		}
		if event.Type == "ERROR" {
			var status struct {
				Code    int
				Message string
			}
			_ = json.Unmarshal(event.Object, &status) // an unreadable one begins anew, too
			return "", &StatusError{Verb: http.MethodGet, Path: path, Code: status.Code, Reason: status.Message}
		}
		var object struct {
			Metadata struct{ ResourceVersion string }
		}
		if err := json.Unmarshal(event.Object, &object); err != nil {
			return version, fmt.Errorf("watch %s: %w", path, err)
		}
		version = object.Metadata.ResourceVersion
		switch event.Type {
		case "ADDED", "MODIFIED":
			sink.Set(event.Object)
		case "DELETED":
			sink.Delete(event.Object)
		}
	}
}
