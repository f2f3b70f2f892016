package server_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/overlay"
	"github.com/ironflow/ironflow/imagecustomization/server"
	testmedia "github.com/ironflow/ironflow/test/media"
)

// running is a server with one image.
type running struct {
	store   *images.Store
	metrics *prometheus.Registry
	url     string // of the image
	https   string // the same over TLS, when asked for
	model   []byte // the image's bytes
	client  *http.Client
	stop    func()     // ends Serve,
	stopped chan error // which returns this
}

// start serves one image of a small medium on free ports.
func start(t testing.TB, edit func(*server.Options)) *running {
	t.Helper()
	return startOver(t, 2<<20, net.ListenConfig{}, edit)
}

// startLarge serves an image that no socket buffer swallows, so that who does
// not read holds the server up.
func startLarge(t testing.TB, edit func(*server.Options)) *running {
	t.Helper()
	return startOver(t, 48<<20, net.ListenConfig{}, edit)
}

func startOver(t testing.TB, rootfs int, listen net.ListenConfig, edit func(*server.Options)) *running {
	t.Helper()
	path := filepath.Join(t.TempDir(), "live.iso")
	if err := testmedia.WriteFile(path, testmedia.Options{RootfsBytes: rootfs}); err != nil {
		t.Fatal(err)
	}
	registry, err := media.Open(t.Context(), path, media.Options{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, err := images.NewStore(t.Context(), images.Options{
		Media: registry, BaseURL: "http://" + plain.Addr().String(), SigningKey: bytes.Repeat([]byte("k"), 32),
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Put(t.Context(), images.Spec{
		Key: "metal/host-0", Arch: "x86_64", Ignition: []byte(strings.Repeat("config", 50)),
		Kargs: overlay.KargsEdit{Append: []string{"a=b"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.MarkSynced()
	r := &running{store: s, metrics: prometheus.NewRegistry(), url: b.URL, client: &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 64, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // a certificate of the test's own
	}}}
	o := server.Options{Store: s, Log: logr.Discard(), Registerer: r.metrics}
	listeners := []server.Listener{{Listener: plain}}
	if edit != nil {
		edit(&o)
	}
	if o.CertFile != "" {
		secure, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, server.Listener{Listener: secure, TLS: true})
		r.https = strings.Replace(b.URL, "http://"+plain.Addr().String(), "https://"+secure.Addr().String(), 1)
	}
	rev := s.Lookup(strings.TrimPrefix(b.URL, "http://"+plain.Addr().String()))
	if r.model, err = io.ReadAll(rev.Image.Reader()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.stop, r.stopped = cancel, make(chan error, 1)
	go func() { r.stopped <- server.New(o).Serve(ctx, listeners) }()
	t.Cleanup(func() {
		r.client.CloseIdleConnections()
		cancel()
		if err := <-r.stopped; err != nil {
			t.Error(err)
		}
	})
	return r
}

// answer is a response whose body was read.
type answer struct {
	StatusCode    int
	Header        http.Header
	ContentLength int64
	Proto         string
	// Server is the common name of the server's certificate.
	Server string
}

// do sends a request with headers given as pairs.
func (r *running) do(t testing.TB, method, url string, headers ...string) (answer, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	a := answer{StatusCode: resp.StatusCode, Header: resp.Header, ContentLength: resp.ContentLength, Proto: resp.Proto}
	if resp.TLS != nil {
		a.Server = resp.TLS.PeerCertificates[0].Subject.CommonName
	}
	return a, body
}

// root is the server's address.
func (r *running) root() string {
	root, _, _ := strings.Cut(r.url, "/images/")
	return root
}

func TestHead(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	resp, _ := r.do(t, http.MethodHead, r.url)
	g.Expect(resp.StatusCode).To(Equal(200))
	g.Expect(resp.ContentLength).To(BeEquivalentTo(len(r.model)))
	g.Expect(resp.Header).To(And(
		HaveKeyWithValue("Accept-Ranges", []string{"bytes"}),
		HaveKeyWithValue("Content-Type", []string{"application/x-iso9660-image"}),
		HaveKeyWithValue("Content-Disposition", []string{`attachment; filename="host-0.iso"`}),
		HaveKeyWithValue("Etag", ConsistOf(MatchRegexp(`^"[0-9a-f]{32}"$`))),
		HaveKey("Last-Modified"),
	))
	p, _ := r.store.Progress("metal/host-0")
	g.Expect(p.LastRead).To(BeZero(), "HEAD reads nothing")
}

func TestRanges(t *testing.T) {
	r := start(t, nil)
	n := len(r.model)
	cases := []struct {
		name, header string
		code         int
		from, to     int // of the model
	}{
		{"whole", "", 200, 0, n},
		{"start", "bytes=0-65535", 206, 0, 65536},
		{"small", "bytes=33000-33999", 206, 33000, 34000},
		{"one byte", "bytes=5-5", 206, 5, 6},
		{"open", fmt.Sprintf("bytes=%d-", n-100000), 206, n - 100000, n},
		{"suffix", "bytes=-2048", 206, n - 2048, n},
		{"longer than the image", fmt.Sprintf("bytes=%d-%d", n-10, n+10), 206, n - 10, n},
		{"long suffix", "bytes=-999999999", 206, 0, n},
		{"nonsense of a boot ROM", "bytes=u-u", 200, 0, n},
		{"backwards", "bytes=9-5", 200, 0, n},
		{"other unit", "sectors=0-1", 200, 0, n},
		{"outside", fmt.Sprintf("bytes=%d-", n), 416, 0, 0},
		{"empty suffix", "bytes=-0", 416, 0, 0},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			g := NewWithT(t)
			var headers []string
			if tc.header != "" {
				headers = []string{"Range", tc.header}
			}
			resp, body := r.do(t, http.MethodGet, r.url, headers...)
			g.Expect(resp.StatusCode).To(Equal(tc.code))
			switch tc.code {
			case 416:
				g.Expect(resp.Header.Get("Content-Range")).To(Equal(fmt.Sprintf("bytes */%d", n)))
				return
			case 206:
				g.Expect(resp.Header.Get("Content-Range")).To(Equal(fmt.Sprintf("bytes %d-%d/%d", tc.from, tc.to-1, n)))
			}
			g.Expect(resp.ContentLength).To(BeEquivalentTo(tc.to - tc.from))
			g.Expect(bytes.Equal(body, r.model[tc.from:tc.to])).To(BeTrue())
		})
	}
}

func TestSeveralRanges(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	resp, body := r.do(t, http.MethodGet, r.url, "Range", "bytes=0-9,40000-40099")
	g.Expect(resp.StatusCode).To(Equal(206))
	_, params, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	g.Expect(err).NotTo(HaveOccurred())
	parts := multipart.NewReader(bytes.NewReader(body), params["boundary"])
	for _, want := range [][]byte{r.model[0:10], r.model[40000:40100]} {
		part, err := parts.NextPart()
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(io.ReadAll(part)).To(Equal(want))
	}
}

func TestPreconditions(t *testing.T) {
	r := start(t, nil)
	head, _ := r.do(t, http.MethodHead, r.url)
	etag, modified := head.Header.Get("Etag"), head.Header.Get("Last-Modified")
	const part = "bytes=0-99"
	cases := []struct {
		name    string
		headers []string
		code    int
	}{
		{"If-Range with the tag", []string{"Range", part, "If-Range", etag}, 206},
		{"If-Range with the time", []string{"Range", part, "If-Range", modified}, 206},
		{"If-Range with another tag", []string{"Range", part, "If-Range", `"x"`}, 200},
		{"If-Range with a weak tag", []string{"Range", part, "If-Range", "W/" + etag}, 200},
		{"If-None-Match", []string{"If-None-Match", etag}, 304},
		{"If-Match with another tag", []string{"If-Match", `"x"`}, 412},
		{"If-Match", []string{"Range", part, "If-Match", etag}, 206},
		{"If-Modified-Since", []string{"If-Modified-Since", modified}, 304},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			resp, _ := r.do(t, http.MethodGet, r.url, tc.headers...)
			NewWithT(t).Expect(resp.StatusCode).To(Equal(tc.code))
		})
	}
}

func TestNothingIsListed(t *testing.T) {
	r := start(t, nil)
	root := r.root()
	dir := r.url[:strings.LastIndex(r.url, "/")]
	for _, url := range []string{root + "/", root + "/images", root + "/images/", dir, dir + "/", dir + "/other.iso", r.url + "/", r.url + "?x=" /* the query is ignored */} {
		t.Run(strings.TrimPrefix(url, root), func(t *testing.T) {
			resp, body := r.do(t, http.MethodGet, url)
			if strings.Contains(url, "?") {
				NewWithT(t).Expect(resp.StatusCode).To(Equal(200))
				return
			}
			NewWithT(t).Expect(resp.StatusCode).To(Equal(404))
			NewWithT(t).Expect(string(body)).NotTo(ContainSubstring("host-0"))
		})
	}
	resp, _ := r.do(t, http.MethodPost, r.url)
	NewWithT(t).Expect(resp.StatusCode).To(Equal(405))
	for _, path := range []string{"/health", "/live"} {
		resp, _ = r.do(t, http.MethodGet, root+path)
		NewWithT(t).Expect(resp.StatusCode).To(Equal(200))
	}
	resp, _ = r.do(t, http.MethodHead, root+names.AskedPath)
	NewWithT(t).Expect(resp.StatusCode).To(Equal(410), "by which Ironic tells that it reached us")
}

func TestNotReadyIsNotGone(t *testing.T) {
	g := NewWithT(t)
	r := start(t, func(o *server.Options) { o.Store = unsynced{o.Store} })
	root := r.root()
	for _, path := range []string{"/images/x/y/z.iso", "/health"} {
		resp, _ := r.do(t, http.MethodGet, root+path)
		g.Expect(resp.StatusCode).To(Equal(503))
		g.Expect(resp.Header.Get("Retry-After")).NotTo(BeEmpty())
	}
	resp, _ := r.do(t, http.MethodGet, r.url)
	g.Expect(resp.StatusCode).To(Equal(200))
}

type unsynced struct{ server.Store }

func (unsynced) Synced() bool { return false }

// Readers of the same image at once get exactly the image's bytes.
func TestManyReadersAgainstAModel(t *testing.T) {
	ranges := map[string]int{"http": 2000, "https": 200}
	if testing.Short() {
		ranges["http"] = 200
	}
	cert, key := certificate(t, t.TempDir(), "one")
	r := start(t, func(o *server.Options) { o.CertFile, o.KeyFile = cert, key })
	for name, url := range map[string]string{"http": r.url, "https": r.https} {
		t.Run(name, func(t *testing.T) {
			var group sync.WaitGroup
			problems := make(chan error, 32)
			for reader := range 32 {
				group.Go(func() {
					rng := mrand.New(mrand.NewPCG(1, uint64(reader)))
					for range ranges[name] {
						if err := r.checkRange(t.Context(), url, rng); err != nil {
							problems <- fmt.Errorf("reader %d: %w", reader, err)
							return
						}
					}
				})
			}
			group.Wait()
			close(problems)
			for err := range problems {
				t.Error(err)
			}
		})
	}
}

func (r *running) checkRange(ctx context.Context, url string, rng *mrand.Rand) error {
	size := 1 + rng.IntN(96<<10)
	if rng.IntN(3) == 0 {
		size = 1 + rng.IntN(3000)
	}
	off := rng.IntN(len(r.model))
	size = min(size, len(r.model)-off)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+size-1))
	resp, err := r.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusPartialContent || !bytes.Equal(body, r.model[off:off+size]) {
		return fmt.Errorf("%d bytes at %d: status %d, %d bytes, %w", size, off, resp.StatusCode, len(body), errors.Join(err, errors.New("wrong")))
	}
	return nil
}

// slowReader opens a download of the image and does not read it.
func (r *running) slowReader(t *testing.T) net.Conn {
	t.Helper()
	return slowReader(t, r.url)
}

func slowReader(t *testing.T, url string) net.Conn {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	addr, path, _ := strings.Cut(host, "/")
	var dial net.Dialer
	c, err := dial.DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.(*net.TCPConn).SetReadBuffer(4096); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(c, "GET /%s HTTP/1.1\r\nHost: x\r\n\r\n", path); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestLimitsAnswerAtOnce(t *testing.T) {
	cases := map[string]func(*server.Options){
		"per image": func(o *server.Options) { o.MaxPerImage = 2 },
		"in all":    func(o *server.Options) { o.MaxTotal = 2 },
	}
	for name, edit := range cases {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := startLarge(t, edit)
			first, second := r.slowReader(t), r.slowReader(t)
			g.Eventually(func() int {
				p, _ := r.store.Progress("metal/host-0")
				return p.Readers
			}, time.Minute).Should(Equal(2))
			resp, _ := r.do(t, http.MethodGet, r.url, "Range", "bytes=0-9")
			g.Expect(resp.StatusCode).To(Equal(503))
			g.Expect(resp.Header.Get("Retry-After")).NotTo(BeEmpty())
			resp, _ = r.do(t, http.MethodHead, r.url)
			g.Expect(resp.StatusCode).To(Equal(200), "HEAD costs nothing")
			g.Expect(first.Close()).To(Succeed())
			g.Expect(second.Close()).To(Succeed())
			g.Eventually(func() int {
				resp, _ := r.do(t, http.MethodGet, r.url, "Range", "bytes=0-9")
				return resp.StatusCode
			}, time.Minute).Should(Equal(206))
		})
	}
}

// A root file system is read by every host of a site at once, and by anybody who
// asks: it has no limit of its own, and leaves half of all places to the images.
func TestFilesOfAllHostsHaveHalfOfThePlaces(t *testing.T) {
	g := NewWithT(t)
	const half = 66
	r := startLarge(t, func(o *server.Options) { o.MaxTotal = 2 * half })
	rootfs, err := r.store.Artifact(t.Context(), "x86_64", "", overlay.RootfsPath)
	g.Expect(err).NotTo(HaveOccurred())
	for range half - 1 {
		slowReader(t, rootfs)
	}
	status := func(url string) int {
		resp, _ := r.do(t, http.MethodGet, url, "Range", "bytes=0-9")
		return resp.StatusCode
	}
	readers := func() float64 { return r.values(t)["ironflow_images_readers"] }
	g.Eventually(readers, time.Minute).Should(BeEquivalentTo(half - 1))
	g.Expect(status(rootfs)).To(Equal(206), "the last of its half")
	// Its answer is read before its place is free: a reader that came in
	// between would be sent away, and the limit would never be reached.
	g.Eventually(readers, time.Minute).Should(BeEquivalentTo(half - 1))
	slowReader(t, rootfs)
	g.Eventually(readers, time.Minute).Should(BeEquivalentTo(half))
	g.Expect(status(rootfs)).To(Equal(503), "its half is taken")
	g.Expect(status(r.url)).To(Equal(206), "the other half is there for the hosts' images")
	g.Expect(r.values(t)).To(HaveKeyWithValue("ironflow_images_rejected_total artifact_limit", 1.0))
}

func TestStalledReaderIsDroppedAndNamed(t *testing.T) {
	g := NewWithT(t)
	r := startLarge(t, func(o *server.Options) { o.ProgressTimeout = 200 * time.Millisecond })
	events := r.store.Watch(t.Context())
	r.slowReader(t)
	g.Eventually(events, time.Minute).Should(Receive(And(
		HaveField("Kind", images.ReaderStalled), HaveField("Key", "metal/host-0"))))
	g.Eventually(func() int {
		p, _ := r.store.Progress("metal/host-0")
		return p.Readers
	}, time.Minute).Should(BeZero())
	// A connection that only rested between two requests is no stalled reader.
	resp, _ := r.do(t, http.MethodGet, r.url, "Range", "bytes=0-9")
	g.Expect(resp.StatusCode).To(Equal(206))
}

func TestReadingIsVisible(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	_, _ = r.do(t, http.MethodGet, r.url, "Range", fmt.Sprintf("bytes=0-%d", len(r.model)/2))
	percent := func() float64 { // what was sent is noted after the reader has it
		p, _ := r.store.Progress("metal/host-0")
		return p.Percent
	}
	g.Eventually(percent, time.Minute).Should(BeNumerically("~", 50, 1))
	_, _ = r.do(t, http.MethodGet, r.url)
	g.Eventually(percent, time.Minute).Should(BeEquivalentTo(100))
}

func TestMetrics(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	_, _ = r.do(t, http.MethodGet, r.url, "Range", "bytes=0-99999")
	_, _ = r.do(t, http.MethodGet, r.url+"x")
	g.Eventually(func() map[string]float64 { return r.values(t) }, time.Minute).Should(And( // what was sent is counted after the reader has it
		HaveKeyWithValue("ironflow_images_sent_bytes_total", 100000.0),
		HaveKeyWithValue("ironflow_images_requests_total 206", 1.0),
		HaveKeyWithValue("ironflow_images_requests_total 404", 1.0),
		HaveKeyWithValue("ironflow_images", 1.0),
		HaveKeyWithValue("ironflow_images_memory_bytes", BeNumerically("<", 8192)),
	))
}

// values are the metrics by name and labels.
func (r *running) values(t *testing.T) map[string]float64 {
	t.Helper()
	families, err := r.metrics.Gather()
	if err != nil {
		t.Fatal(err)
	}
	values := map[string]float64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var name strings.Builder
			name.WriteString(f.GetName())
			for _, l := range m.GetLabel() {
				name.WriteString(" " + l.GetValue())
			}
			values[name.String()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	return values
}
