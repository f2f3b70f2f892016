package images_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/bmc/images"
)

func TestSizes(t *testing.T) {
	var others atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead {
			others.Add(1)
		}
		switch strings.TrimPrefix(r.URL.Path, "/") {
		case "known":
			w.Header().Set("Content-Length", "1048576")
		case "packed":
			w.Header().Set("Content-Length", "7")
			w.Header().Set("Content-Encoding", "gzip")
		case "moved":
			http.Redirect(w, r, "/known", http.StatusFound)
		case "open":
			w.(http.Flusher).Flush() // of no length
		case "page":
			w.Header().Set("Content-Length", "9")
			w.WriteHeader(http.StatusForbidden)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	t.Cleanup(server.Close)
	at := func(path string) string { return server.URL + "/" + path }
	g := NewWithT(t)
	got := images.Sizes(t.Context(), server.Client(), []string{
		at("known"), at("packed"), at("moved"), at("open"), at("page"), at("missing"), at("known"), "file:///etc/passwd", "http://", "%zz", "", "http://127.0.0.1:1/x",
	})
	g.Expect(got).To(Equal(map[string]int64{at("known"): 1 << 20, at("moved"): 1 << 20}))
	g.Expect(others.Load()).To(BeZero(), "no image is fetched")
}

// silent answers nobody.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// TestASilentServer: it costs some seconds, and nothing is known of its images.
func TestASilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got := images.Sizes(t.Context(), &http.Client{Transport: silent{}}, []string{"http://a.example/1", "http://a.example/2", "http://a.example/3"})
		NewWithT(t).Expect(got).To(BeEmpty())
	})
}
