package client

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ironflow/ironflow/bmc/lenient"
)

// Answer is a success. A Location header is a path of the BMC; one that names
// another place is left out.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Location is the path of what was made, or of the task's monitor; empty if the
// answer names none.
func (a *Answer) Location() string { return a.Header.Get("Location") }

// tidyLocation cuts the header to a path.
func (a *Answer) tidyLocation(at place, session bool) {
	raw := a.Header.Get("Location")
	if raw == "" {
		return
	}
	path, err := at.path(raw)
	switch {
	case err == nil:
		a.Header.Set("Location", path)
	case !session: // a session's path is looked for elsewhere, too
		a.Header.Del("Location")
	}
}

// read makes a call that reads a resource. What is no JSON object is none; an answer that
// holds nothing but an error is one, whatever its status says.
func (c *Client) read(ctx context.Context, k call) (*Answer, error) {
	answer, err := c.run(ctx, k)
	if err != nil {
		return nil, err
	}
	var marks struct {
		Error   lenient.Present `json:"error"`
		ID      lenient.String  `json:"Id"`
		Path    lenient.String  `json:"@odata.id"`
		Type    lenient.String  `json:"@odata.type"`
		Members lenient.Present `json:"Members"`
	}
	if err := json.Unmarshal(answer.Body, &marks); err != nil && !lenient.OnlyTypes(err) {
		return nil, c.failure(k, Broken, answer.Status, "the answer is no JSON: "+line(err.Error()))
	}
	if bytes.TrimSpace(answer.Body)[0] != '{' {
		return nil, c.failure(k, Broken, answer.Status, "the answer is no Redfish resource: those are JSON objects")
	}
	if bool(marks.Error) && marks.Path == "" && marks.Type == "" && marks.ID == "" && !bool(marks.Members) {
		return nil, c.refused(k, false, answer.Status, answer.Header, answer.Body)
	}
	return answer, nil
}

// recent are paths that the BMC has given out a short time ago.
type recent struct {
	mu    sync.Mutex
	paths map[string]time.Time
}

// maxRecent bounds them.
const maxRecent = 32

func (r *recent) add(path string, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for old, at := range r.paths {
		if now.Sub(at) > settling {
			delete(r.paths, old)
		}
	}
	if len(r.paths) >= maxRecent {
		return
	}
	if r.paths == nil {
		r.paths = map[string]time.Time{}
	}
	r.paths[path] = now
}

func (r *recent) forget(path string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.paths, path)
}

func (r *recent) has(path string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at, known := r.paths[path]
	return known && now.Sub(at) <= settling
}

// sessionBody is what a new session's body may tell.
type sessionBody struct {
	ID lenient.String `json:"@odata.id"`
}
