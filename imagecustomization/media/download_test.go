package media_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/media"
	coreosiso "github.com/ironflow/ironflow/test/fixtures/coreos-iso"
)

// origin is a server with one medium.
type origin struct {
	*httptest.Server
	content  []byte
	sum      string
	requests atomic.Int32
	sent     atomic.Int64
	// cutAfter breaks the first answers off after that many bytes.
	cutAfter, cuts int
	noRanges       bool
	status         int
	stall          chan struct{}
}

func newOrigin(t *testing.T, edit func(*origin)) *origin {
	t.Helper()
	o := &origin{content: coreosiso.Read(t, "2022-09")}
	sum := sha256.Sum256(o.content)
	o.sum = hex.EncodeToString(sum[:])
	if edit != nil {
		edit(o)
	}
	o.Server = httptest.NewTLSServer(http.HandlerFunc(o.serve))
	t.Cleanup(o.Close)
	return o
}

func (o *origin) serve(w http.ResponseWriter, r *http.Request) {
	n := int(o.requests.Add(1))
	switch {
	case r.Header.Get("Authorization") != "secret":
		w.WriteHeader(http.StatusUnauthorized)
		return
	case o.status != 0 && n <= o.cuts:
		w.WriteHeader(o.status)
		return
	case o.stall != nil && n <= o.cuts:
		w.(http.Flusher).Flush()
		select {
		case <-r.Context().Done():
		case <-o.stall:
		}
		return
	}
	if o.noRanges {
		r.Header.Del("Range")
	}
	if n <= o.cuts {
		w = &cutter{ResponseWriter: w, left: o.cutAfter}
	}
	http.ServeContent(&counter{w, &o.sent}, r, "", time.Time{}, bytes.NewReader(o.content))
}

// cutter breaks an answer off.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) > c.left {
		_, _ = c.ResponseWriter.Write(p[:c.left])
		panic(http.ErrAbortHandler)
	}
	c.left -= len(p)
	return c.ResponseWriter.Write(p)
}

type counter struct {
	http.ResponseWriter
	sent *atomic.Int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.sent.Add(int64(n))
	return n, err
}

func (o *origin) downloader(dir string) *media.Downloader {
	return &media.Downloader{
		Dir: dir, Wait: time.Millisecond, Header: http.Header{"Authorization": {"secret"}},
		CA: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: o.Certificate().Raw}),
	}
}

func (o *origin) remote() media.Remote {
	return media.Remote{URL: o.URL + "/media/live.iso?token=hidden", SHA256: o.sum}
}

func TestDownload(t *testing.T) {
	cases := map[string]struct {
		edit     func(*origin)
		requests int
	}{
		"at once":             {nil, 1},
		"resumed twice":       {func(o *origin) { o.cuts, o.cutAfter = 2, 400000 }, 3},
		"server cannot":       {func(o *origin) { o.cuts, o.cutAfter, o.noRanges = 1, 400000, true }, 2},
		"server is busy":      {func(o *origin) { o.cuts, o.status = 2, http.StatusServiceUnavailable }, 3},
		"server falls silent": {func(o *origin) { o.cuts, o.stall = 1, make(chan struct{}) }, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g, dir := NewWithT(t), t.TempDir()
			o := newOrigin(t, tc.edit)
			d := o.downloader(dir)
			d.Idle = 300 * time.Millisecond
			path, fetched, err := d.Fetch(t.Context(), o.remote())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fetched).To(BeTrue())
			g.Expect(path).To(Equal(filepath.Join(dir, "live.iso")))
			got, err := os.ReadFile(path)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(bytes.Equal(got, o.content)).To(BeTrue())
			g.Expect(o.requests.Load()).To(BeEquivalentTo(tc.requests))
			if strings.HasPrefix(name, "resumed") {
				g.Expect(o.sent.Load()).To(BeNumerically("<", len(o.content)+100000), "only what was missing")
			}
			files, err := os.ReadDir(dir)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(files).To(HaveLen(1))
			// A whole file is not asked for again.
			_, fetched, err = d.Fetch(t.Context(), o.remote())
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(fetched).To(BeFalse())
			g.Expect(o.requests.Load()).To(BeEquivalentTo(tc.requests))
			r, err := media.Open(t.Context(), dir, media.Options{})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(r.List()).To(HaveLen(1))
		})
	}
}

func TestDownloadFails(t *testing.T) {
	wrong := strings.Repeat("0", 64)
	cases := map[string]struct {
		edit     func(*origin)
		remote   func(*media.Remote)
		want     string
		requests int
	}{
		"wrong digest":    {nil, func(r *media.Remote) { r.SHA256 = wrong }, "want 0000", 5},
		"not there":       {func(o *origin) { o.cuts, o.status = 9, http.StatusNotFound }, nil, "404 Not Found", 1},
		"always busy":     {func(o *origin) { o.cuts, o.status = 9, http.StatusBadGateway }, nil, "502 Bad Gateway", 5},
		"digest missing":  {nil, func(r *media.Remote) { r.SHA256 = "" }, "SHA-256 (64 hexadecimal digits)", 0},
		"strange name":    {nil, func(r *media.Remote) { r.File = "../x.iso" }, "file name", 0},
		"name without it": {nil, func(r *media.Remote) { r.File = "x.img" }, "must end in .iso", 0},
		"no URL":          {nil, func(r *media.Remote) { r.URL = "live.iso" }, "not a URL", 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			o := newOrigin(t, tc.edit)
			remote := o.remote()
			if tc.remote != nil {
				tc.remote(&remote)
			}
			dir := t.TempDir()
			_, _, err := o.downloader(dir).Fetch(t.Context(), remote)
			g.Expect(err).To(MatchError(ContainSubstring(tc.want)))
			g.Expect(err.Error()).NotTo(ContainSubstring("hidden"), "a query may hold a secret")
			g.Expect(o.requests.Load()).To(BeEquivalentTo(tc.requests))
			g.Expect(filepath.Join(dir, "live.iso")).NotTo(BeAnExistingFile())
		})
	}
}

func TestUnreachableServerDoesNotShowTheQuery(t *testing.T) {
	g := NewWithT(t)
	o := newOrigin(t, nil)
	o.Close()
	_, _, err := o.downloader(t.TempDir()).Fetch(t.Context(), o.remote())
	g.Expect(err).To(MatchError(And(ContainSubstring("connection refused"), Not(ContainSubstring("hidden")))))
}

func TestDownloadEndsWithItsContext(t *testing.T) {
	g := NewWithT(t)
	o := newOrigin(t, func(o *origin) { o.cuts, o.stall = 9, make(chan struct{}) })
	ctx, cancel := context.WithCancelCause(t.Context())
	done := make(chan error, 1)
	go func() {
		_, _, err := o.downloader(t.TempDir()).Fetch(ctx, o.remote())
		done <- err
	}()
	g.Eventually(o.requests.Load, time.Minute).Should(BeEquivalentTo(1))
	cancel(errors.New("enough"))
	g.Eventually(done, time.Minute).Should(Receive(HaveOccurred()))
}

// TestTwoReplicasDownloadOnce: replicas share the folder, and each follows the list. The
// second one would empty what the first has written, where a server knows no ranges.
func TestTwoReplicasDownloadOnce(t *testing.T) {
	g, dir := NewWithT(t), t.TempDir()
	half := make(chan struct{})
	o := newOrigin(t, func(o *origin) { o.noRanges = true })
	first, second := o.downloader(dir), o.downloader(dir)
	begun := make(chan struct{})
	first.Progress = func(_ string, have, total int64) {
		if have == total {
			close(begun)
			<-half
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, _, err := first.Fetch(t.Context(), o.remote())
		ended <- err
	}()
	<-begun
	second.Attempts = 1
	_, _, err := second.Fetch(t.Context(), o.remote())
	close(half)
	g.Expect(err).To(MatchError(ContainSubstring("another process downloads this file")))
	g.Expect(<-ended).NotTo(HaveOccurred())
	path, _, err := second.Fetch(t.Context(), o.remote())
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(os.ReadFile(path)).To(Equal(o.content))
	g.Expect(o.requests.Load()).To(BeEquivalentTo(1))
}
