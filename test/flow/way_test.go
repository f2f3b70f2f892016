package flow_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/ironflow/ironflow/test/hub/testhub"
)

// way is the address that an agent knows its hub by, while the hub behind it
// dies and comes back elsewhere.
type way struct {
	*httptest.Server
	target atomic.Pointer[httputil.ReverseProxy]
}

func newWay(t *testing.T) *way {
	w := &way{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		proxy := w.target.Load()
		if proxy == nil {
			panic(http.ErrAbortHandler) // as a dead process: the connection breaks
		}
		proxy.ServeHTTP(out, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// to leads to the hub from now on; nil leads nowhere.
func (w *way) to(hub *testhub.Hub) {
	if hub == nil {
		w.target.Store(nil)
		return
	}
	target, err := url.Parse(hub.URL)
	if err != nil {
		panic(err) // the URL of a test server
	}
	w.target.Store(&httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: hub.Client().Transport,
	})
}
