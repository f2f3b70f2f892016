package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	mrand "math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/server"
)

// ordinary is a listener whose connections are no TCP connections for the server, so that
// net/http alone answers on them.
type ordinary struct{ net.Listener }

// Accept implements net.Listener.
func (o ordinary) Accept() (net.Conn, error) {
	c, err := o.Listener.Accept()
	return struct{ net.Conn }{c}, err
}

// ordinaryAddress serves the same images by net/http alone.
func (r *running) ordinaryAddress(t *testing.T) string {
	t.Helper()
	g := NewWithT(t)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)
	go func() {
		stopped <- server.New(server.Options{Store: r.store, Log: logr.Discard()}).Serve(ctx, []server.Listener{{Listener: ordinary{l}}})
	}()
	t.Cleanup(func() {
		stop()
		if err := <-stopped; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// oddities are lines of a header that somebody may send to be read in two ways.
var oddities = []string{
	"Host: y", "Host:", "Host: a b", "Host: x/y", "host:x", "Host : x", "Host: x\x00", "Range: bytes=1-2", "range:bytes=7-", "RANGE: bytes=-9",
	"Range: bytes=0-9,20-29", "Range: bytes=99999999999-", "Range : bytes=0-1", "Range:", "Range: bytes=0-18446744073709551616",
	"Content-Length: 0", "Content-Length:5 ", "Content-Length: +0", "content-length:\t0", "Content-Length: 0\r\nContent-Length: 0", "Content-Length : 5",
	"Content_Length: 5", "Content-Length: 5, 5", "Content-Length:", "\"Content-Length\": 5", "Content-Length\t: 5", " Content-Length: 5", "Content-Length: 5\nX: y",
	"Transfer-Encoding: chunked", "Transfer-Encoding : chunked", "Transfer-Encoding: identity", "Transfer-Encoding:\vchunked", "transfer-encoding: chunked ",
	"Transfer-Encoding: chunked, chunked", "Transfer_Encoding: chunked", "X: y\rTransfer-Encoding: chunked", "X: y\nTransfer-Encoding: chunked",
	"Connection: close", "Connection: keep-alive", "connection:KEEP-ALIVE", "Connection: keep-alive, close", "Connection: x", "Connection: Upgrade\r\nUpgrade: h2c",
	"X\x00: a", "X: a\x00b", "X: a\r\n b", "X: a\r\n\tTransfer-Encoding: chunked", "\xffX: y", "X\xc3\xa9: y", "Expect: 100-continue", "Expect: x", "If-Range: \"x\"",
	"If-Match: *", "If-None-Match: *", "X: \x7f", "X: \x80", "User-Agent:", "User-Agent: \t", ": y", "X", "X\n", "\n", "\r", "", "\x00", "Trailer: X", "A_b: c", "Accept: */*",
}

// odd is a request that may have anything in it.
func odd(rng *mrand.Rand, path string) (method, text string) {
	pick := func(often string, others ...string) string {
		if rng.IntN(4) > 0 {
			return often
		}
		return others[rng.IntN(len(others))]
	}
	method = pick("GET", "HEAD", "POST", "get", "GET ", "OPTIONS", "CONNECT")
	target := pick(path, path+"?x=y", "http://x"+path, "/"+path, "/live", "*", path+"%20", path+"#x", strings.Replace(path, "images", "%69mages", 1), path+"/../x", path+" x")
	end := pick("\r\n", "\n", "\r\r\n")
	lines := []string{"Host: x", fmt.Sprintf("Range: bytes=%d-%d", rng.IntN(9000), 9000+rng.IntN(30000))}
	for range rng.IntN(3) {
		lines = slices.Insert(lines, rng.IntN(len(lines)+1), oddities[rng.IntN(len(oddities))])
	}
	if rng.IntN(9) == 0 {
		lines = slices.Delete(lines, 0, 1)
	}
	text = method + " " + target + " " + pick("HTTP/1.1", "HTTP/1.0", "HTTP/1.1 ", "http/1.1", "HTTP/1.2") + end
	return strings.TrimSpace(method), text + strings.Join(lines, end) + end + end
}

// dialogue sends texts, each of them on its own, and returns what was answered, and whether
// the end of it may be missing: a connection that is closed before all was read is reset.
func dialogue(t *testing.T, address string, methods, texts []string) (answers []string, reset bool) {
	t.Helper()
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	refused := make(chan bool, 1)
	go func() {
		for _, text := range texts {
			if _, err := io.WriteString(c, text); err != nil {
				refused <- true
				return
			}
			<-time.After(time.Millisecond)
		}
		refused <- c.(*net.TCPConn).CloseWrite() != nil
	}()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	all, err := io.ReadAll(c)
	if timedOut(err) {
		t.Fatalf("%q: no end", texts)
	}
	reset = <-refused || err != nil
	from := bufio.NewReader(bytes.NewReader(all))
	for i := 0; ; i++ {
		method := http.MethodGet
		if i < len(methods) {
			method = methods[i]
		}
		response, failed := http.ReadResponse(from, &http.Request{Method: method})
		if failed != nil {
			return answers, reset
		}
		body, failed := io.ReadAll(response.Body)
		_ = response.Body.Close()
		response.Header.Del("Date")
		if failed != nil {
			return answers, true
		}
		if boundary := response.Header.Get("Content-Type"); strings.HasPrefix(boundary, "multipart") {
			response.Header.Del("Content-Type")
			body = nil
		}
		answers = append(answers, fmt.Sprintln(response.Status, response.Header, response.Close, len(body), sha256.Sum256(body)))
	}
}

// TestDirectAnswersAreThoseOfNetHTTP sends the same bytes to a server that answers ranges by
// itself, and to net/http alone.
func TestDirectAnswersAreThoseOfNetHTTP(t *testing.T) {
	r := start(t, func(o *server.Options) { o.MaxPerImage, o.MaxTotal = 1<<20, 1<<20 })
	ordinary := r.ordinaryAddress(t)
	rng := mrand.New(mrand.NewPCG(1, 2))
	rounds := 200
	if testing.Short() {
		rounds = 50
	}
	for n := range rounds {
		var methods, texts []string
		for range 1 + rng.IntN(3) {
			methods, texts = append(methods, http.MethodGet), append(texts, r.sector("HTTP/1.1", rng.IntN(500), ""))
			method, text := odd(rng, r.path())
			methods, texts = append(methods, method), append(texts, text)
		}
		methods, texts = append(methods, http.MethodGet), append(texts, r.sector("HTTP/1.1", 1, ""))
		if rng.IntN(3) == 0 { // not as requests, but in pieces
			all := strings.Join(texts, "")
			texts = nil
			for len(all) > 0 {
				piece := min(len(all), 1+rng.IntN(300))
				texts, all = append(texts, all[:piece]), all[piece:]
			}
		}
		got, reset := dialogue(t, strings.TrimPrefix(r.root(), "http://"), methods, texts)
		want, wantReset := dialogue(t, ordinary, methods, texts)
		if least := min(len(got), len(want)); reset || wantReset {
			got, want = got[:least], want[:least]
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%d: %q is answered with\n%v\nnot with\n%v", n, texts, got, want)
		}
	}
}
