package boot_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/test/machine/boot"
)

// image is three and a half blocks with a hole.
func image() string {
	raw := make([]byte, 3*boot.BlockSize+boot.BlockSize/2)
	for i := range raw {
		raw[i] = byte(rand.IntN(256))
	}
	clear(raw[2*boot.BlockSize : 3*boot.BlockSize])
	return string(raw)
}

// serve answers as an image server should, but for what change does first.
func serve(t *testing.T, content string, change func(w http.ResponseWriter, r *http.Request) bool) string {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"one"`)
		if change != nil && change(w, r) {
			return
		}
		http.ServeContent(w, r, "x.iso", time.Time{}, strings.NewReader(content))
	}))
	t.Cleanup(server.Close)
	return server.URL + "/secret-signature/host.iso"
}

func read(ctx context.Context, t *testing.T, reader *boot.Reader, address string) (string, boot.Medium, error) {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "medium"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	reader.Client = http.DefaultClient
	medium, err := reader.Read(ctx, address, file)
	if err != nil {
		return "", medium, err
	}
	raw, err := io.ReadAll(io.NewSectionReader(medium, 0, medium.Size))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw), medium, nil
}

func TestReadsTheWholeMedium(t *testing.T) {
	g := NewWithT(t)
	content := image()
	var requests, progress atomic.Int64
	address := serve(t, content, func(http.ResponseWriter, *http.Request) bool { requests.Add(1); return false })
	got, medium, err := read(t.Context(), t, &boot.Reader{Progress: func(n, _ int64) { progress.Store(max(n, progress.Load())) }}, address)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(got == content).To(BeTrue(), "the bytes are the server's")
	g.Expect(medium.ETag).To(Equal(`"one"`))
	g.Expect(requests.Load()).To(BeEquivalentTo(1+4+1), "HEAD, each block, and one of them twice")
	g.Expect(progress.Load()).To(BeEquivalentTo(len(content)))
}

func TestServersThatBreakRanges(t *testing.T) {
	content := image()
	ranged := func(r *http.Request, prefix string) bool { return strings.HasPrefix(r.Header.Get("Range"), prefix) }
	for _, c := range []struct {
		name   string
		change func(w http.ResponseWriter, r *http.Request) bool
		want   string
	}{
		{"gone", func(w http.ResponseWriter, _ *http.Request) bool { w.WriteHeader(http.StatusNotFound); return true }, "HEAD was answered with 404"},
		{"no validator", func(w http.ResponseWriter, _ *http.Request) bool { w.Header().Del("ETag"); return false }, "no ETag"},
		{"whole body for a range", func(w http.ResponseWriter, r *http.Request) bool { r.Header.Del("Range"); return false }, "want status 206"},
		{"validator changes", func(w http.ResponseWriter, r *http.Request) bool {
			if ranged(r, "bytes=65536-") {
				w.Header().Set("ETag", `"two"`)
			}
			return false
		}, `bytes 65536-131071: the ETag changed from "one" to "two"`},
		{"bytes change", func(w http.ResponseWriter, r *http.Request) bool {
			if !ranged(r, "bytes=65536-") {
				return false
			}
			w.Header().Set("Content-Range", fmt.Sprintf("bytes 65536-131071/%d", len(content)))
			w.WriteHeader(http.StatusPartialContent)
			_, _ = io.WriteString(w, image()[:boot.BlockSize])
			return true
		}, "two reads gave different bytes"},
		{"another range", func(w http.ResponseWriter, r *http.Request) bool {
			if ranged(r, "bytes=0-") {
				r.Header.Set("Range", "bytes=1-65536")
			}
			return false
		}, "want Content-Range"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := NewWithT(t)
			_, _, err := read(t.Context(), t, &boot.Reader{}, serve(t, content, c.change))
			g.Expect(err).To(MatchError(ContainSubstring(c.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("secret-signature"))
		})
	}
}

func TestTruncatedRead(t *testing.T) {
	g := NewWithT(t)
	_, _, err := read(t.Context(), t, &boot.Reader{TruncateAt: 0.6}, serve(t, image(), nil))
	g.Expect(err).To(MatchError(ContainSubstring("the BMC reports the end of the medium at byte")))
}

func TestPowerOffEndsTheReading(t *testing.T) {
	g := NewWithT(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := read(ctx, t, &boot.Reader{MiBps: 0.001, Progress: func(int64, int64) { cancel() }}, serve(t, image(), nil))
	g.Expect(err).To(MatchError(context.Canceled))
}
