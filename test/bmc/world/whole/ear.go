package whole

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
)

// Wish is a change that Ironic was asked for.
type Wish struct {
	// Node is its UUID or name, as the program wrote it.
	Node string
	// Of is what was to change, as "power" or "provision".
	Of string
	// Target is what it was to become.
	Target string
}

// Ear puts an ear between the program and Ironic, and returns where the program finds
// Ironic then. Heard gets each change of a node's state before Ironic gets it; an error
// keeps it from Ironic.
func (w *World) Ear(t *testing.T, heard func(ctx context.Context, wish Wish) error) (endpoint string) {
	t.Helper()
	target, err := url.Parse(w.Hall.Ironic.URL)
	if err != nil {
		t.Fatal(err)
	}
	ironic := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: w.Ironic.HTTP.Transport}
	ear := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		if wish, is := wishOf(r); is {
			raw, err := io.ReadAll(r.Body)
			if err == nil {
				r.Body = io.NopCloser(bytes.NewReader(raw))
				_ = json.Unmarshal(raw, &wish) // what is no JSON has no target
				err = heard(r.Context(), wish)
			}
			if err != nil {
				http.Error(answer, err.Error(), http.StatusBadGateway)
				return
			}
		}
		ironic.ServeHTTP(answer, r)
	}))
	t.Cleanup(ear.Close)
	return ear.URL
}

// wishOf reads a request without its body.
func wishOf(r *http.Request) (Wish, bool) {
	path, isNode := strings.CutPrefix(r.URL.Path, "/v1/nodes/")
	node, of, isState := strings.Cut(path, "/states/")
	return Wish{Node: node, Of: of}, r.Method == http.MethodPut && isNode && isState
}
