package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// maxAllocations is the budget of one range request, without net/http itself.
const maxAllocations = 10

func FuzzParseRange(f *testing.F) {
	for _, header := range []string{"bytes=0-1", "bytes=-5", "bytes=7-", "bytes=u-u", "bytes=0-0,5-9", "bytes=9223372036854775808-", "Bytes=1-99999999999999999999", "x"} {
		f.Add(header, int64(100))
	}
	f.Fuzz(func(t *testing.T, header string, size int64) {
		if size < 0 {
			return
		}
		kind, off, length := parseRange(header, size)
		if kind == rangeOne && (off < 0 || length < 1 || off+length > size) {
			t.Fatalf("%q of %d bytes: %d at %d", header, size, length, off)
		}
	})
}

// pair is a connection as the server sees it; the other end swallows all.
func pair(t testing.TB, s *Server) *conn {
	t.Helper()
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		buf := make([]byte, 1<<20)
		for {
			if _, err := client.Read(buf); err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() { client.Close(); accepted.Close() })
	c, err := newConn(s, &admitted{TCPConn: accepted.(*net.TCPConn), gate: &gate{by: map[netip.Addr]int{}}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wire stands in for net/http's response: it hands the body to the connection.
type wire struct {
	header http.Header
	c      *conn
}

func (w *wire) Header() http.Header                 { return w.header }
func (w *wire) WriteHeader(int)                     {}
func (w *wire) Write(p []byte) (int, error)         { return w.c.Write(p) }
func (w *wire) ReadFrom(r io.Reader) (int64, error) { return w.c.ReadFrom(r) }
func (w *wire) Flush()                              { _, _ = w.c.Write([]byte("HTTP/1.1 206 Partial Content\r\n\r\n")) }

func serving(t testing.TB, hosts int) (*Server, []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.iso")
	if err := testmedia.WriteFile(path, testmedia.Options{}); err != nil {
		t.Fatal(err)
	}
	registry, err := media.Open(t.Context(), path, media.Options{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := images.NewStore(t.Context(), images.Options{
		Media: registry, BaseURL: "http://x", SigningKey: bytes.Repeat([]byte("k"), 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for i := range hosts {
		b, err := store.Put(t.Context(), images.Spec{
			Key: fmt.Sprintf("metal/host-%d", i), Ignition: []byte(strings.Repeat(fmt.Sprint(i), 100)),
		})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, strings.TrimPrefix(b.URL, "http://x"))
	}
	return New(Options{Store: store, MaxPerImage: 1 << 20}), paths
}

func request(t testing.TB, c *conn, path, header string) *http.Request {
	t.Helper()
	r := httptest.NewRequestWithContext(context.WithValue(t.Context(), connKey{}, c), http.MethodGet, path, http.NoBody)
	r.Header.Set("Range", header)
	return r
}

// Without it every byte would be copied, and only a benchmark would notice.
func TestBaseIsSentByTheKernel(t *testing.T) {
	s, paths := serving(t, 1)
	image := s.options.Store.Lookup(paths[0]).Image
	var viaFile int64
	for segment := range image.Range(0, image.Size()) {
		if fileOf(segment) != nil {
			viaFile += segment.Length
		}
	}
	NewWithT(t).Expect(viaFile).To(BeNumerically(">", image.Size()*9/10))
}

func TestAllocationsOfARange(t *testing.T) {
	s, paths := serving(t, 1)
	c := pair(t, s)
	for name, header := range map[string]string{"2 KiB": "bytes=4096-6143", "64 KiB": "bytes=0-65535", "512 KiB": "bytes=1048576-1572863"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := request(t, c, paths[0], header)
			w := &wire{header: http.Header{}, c: c}
			allocations := testing.AllocsPerRun(200, func() {
				clear(w.header)
				s.ServeHTTP(w, r)
			})
			g.Expect(allocations).To(BeNumerically("<=", maxAllocations))
			direct := rangeRequest{path: []byte(paths[0]), ranges: []byte(header)}
			allocationsOfDirect := testing.AllocsPerRun(200, func() { _, _ = c.answer(direct) })
			g.Expect(allocationsOfDirect).To(BeNumerically("<=", 1), "the address that is looked up")
			t.Logf("%.0f allocations, %.0f directly", allocations, allocationsOfDirect)
		})
	}
}

func BenchmarkRange(b *testing.B) {
	s, paths := serving(b, 200)
	for _, size := range []int{2 << 10, 64 << 10, 512 << 10} {
		b.Run(fmt.Sprintf("%dK", size>>10), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				c := pair(b, s)
				var requests [][]byte
				for i, p := range paths {
					off := (i * 65536) % (6 << 20)
					requests = append(requests, fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=%d-%d\r\n\r\n", p, off, off+size-1))
				}
				for i := 0; pb.Next(); i++ {
					r, _, _ := readRequest(requests[i%len(requests)])
					if answered, err := c.answer(r); !answered || err != nil {
						b.Error("not answered", err)
					}
				}
			})
		})
	}
}
