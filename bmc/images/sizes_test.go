package images_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
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
			w.WriteHeader(http.StatusTeapot)
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

// TestHeadIsRefused: a server of images that answers GET alone is asked for one byte, once.
func TestHeadIsRefused(t *testing.T) {
	const whole = 3 << 30
	for name, c := range map[string]struct {
		refusal int
		get     func(w http.ResponseWriter)
		size    int64
		gets    int64
	}{
		"method not allowed":  {refusal: http.StatusMethodNotAllowed, get: part("bytes 0-0/3221225472"), size: whole, gets: 1},
		"not implemented":     {refusal: http.StatusNotImplemented, get: part("bytes 0-0/3221225472"), size: whole, gets: 1},
		"signed for GET":      {refusal: http.StatusForbidden, get: part("bytes 0-0/3221225472"), size: whole, gets: 1},
		"no ranges":           {refusal: http.StatusMethodNotAllowed, get: all(whole), size: whole, gets: 1},
		"of unknown length":   {refusal: http.StatusMethodNotAllowed, get: part("bytes 0-0/*"), gets: 1},
		"no number":           {refusal: http.StatusMethodNotAllowed, get: part("bytes 0-0/99999999999999999999999"), gets: 1},
		"less than nothing":   {refusal: http.StatusMethodNotAllowed, get: part("bytes 0-0/-5"), gets: 1},
		"no range in a part":  {refusal: http.StatusMethodNotAllowed, get: part(""), gets: 1},
		"GET is refused, too": {refusal: http.StatusForbidden, get: func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, gets: 1},
		"not there":           {refusal: http.StatusNotFound, get: all(whole)},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			var gets atomic.Int64
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodHead {
					w.WriteHeader(c.refusal)
					return
				}
				gets.Add(1)
				if r.Header.Get("Range") != "bytes=0-0" {
					t.Errorf("Range is %q", r.Header.Get("Range"))
				}
				c.get(w)
			}))
			t.Cleanup(server.Close)
			want := map[string]int64{}
			if c.size > 0 {
				want[server.URL] = c.size
			}
			g.Expect(images.Sizes(t.Context(), server.Client(), []string{server.URL})).To(Equal(want))
			g.Expect(gets.Load()).To(Equal(c.gets))
		})
	}
}

// part answers with the first byte of an image.
func part(contentRange string) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Range", contentRange)
		w.Header().Set("Content-Length", "1")
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write([]byte{0})
	}
}

// all answers with a whole image, as far as anybody takes it.
func all(size int64) func(w http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", strconv.FormatInt(size, 10))
		for sent := int64(0); sent < size; sent += 1 << 20 {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				return
			}
		}
	}
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
