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

	"github.com/ironflow/ironflow/cluster/jsonstream"
)

// Sink takes what a list or a watch brings. Its methods are called one after the other.
type Sink interface {
	// List begins a list. add is given each object that there is, as it comes and none of them to
	// keep; done, that these were all. A list that fails is not done, and another one begins.
	List() (add func(object json.RawMessage), done func())
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

// list reads the collection in pages and returns its version. No more than one object is held
// at a time: what a cluster of many nodes has of them is more than this program may take.
func (c *Client) list(ctx context.Context, path string, query url.Values, sink Sink) (string, error) {
	add, done := sink.List()
	next := ""
	for {
		q := url.Values{"limit": {strconv.Itoa(pageSize)}}
		maps.Copy(q, query)
		if next != "" {
			q.Set("continue", next)
		}
		version, more, err := c.page(ctx, path+"?"+q.Encode(), add)
		if err != nil {
			return "", err
		}
		if next = more; next == "" {
			done()
			return version, nil
		}
	}
}

// page reads one page of a list, and returns the version of the list and where the next page begins.
func (c *Client) page(ctx context.Context, path string, add func(json.RawMessage)) (version, next string, err error) {
	ctx, cancel := context.WithTimeout(ctx, exchangeTimeout)
	defer cancel()
	answer, err := c.send(ctx, c.http, http.MethodGet, path, "", nil)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close()
	var metadata struct{ ResourceVersion, Continue string }
	if err := readList(answer.Body, &metadata, add); err != nil {
		return "", "", fmt.Errorf("the answer to %s %s cannot be read: %w", http.MethodGet, path, err)
	}
	return metadata.ResourceVersion, metadata.Continue, nil
}

// readList decodes a list as it comes: its metadata, and each of its items by itself.
func readList(body io.Reader, metadata any, add func(json.RawMessage)) error {
	in := jsonstream.New(body, maxBody)
	if err := in.Expect(json.Delim('{')); err != nil {
		return err
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return err
		}
		switch name {
		case "metadata":
			err = in.Decode(metadata)
		case "items":
			err = readItems(in, add)
		default:
			err = in.Decode(&json.RawMessage{})
		}
		if err != nil {
			return err
		}
	}
	return in.Expect(json.Delim('}'))
}

// readItems decodes a list's items; each may have as many bytes as an object may.
func readItems(in *jsonstream.Stream, add func(json.RawMessage)) error {
	begin, err := in.Token()
	if err != nil || begin == nil { // null is an empty list
		return err
	}
	if begin != json.Delim('[') {
		return fmt.Errorf("its items are no list, but %v", begin)
	}
	var item json.RawMessage
	return in.Items(func() error {
		item = item[:0]
		if err := in.Decode(&item); err != nil {
			return err
		}
		add(item)
		return nil
	})
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
