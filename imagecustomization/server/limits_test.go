package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/server"
)

// dial connects to the server from an address of this machine, and sends text.
func (r *running) dial(t *testing.T, from, text string) net.Conn {
	t.Helper()
	g := NewWithT(t)
	u, err := url.Parse(r.url)
	g.Expect(err).NotTo(HaveOccurred())
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	c, err := dialer.DialContext(t.Context(), "tcp", u.Host)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { c.Close() })
	g.Expect(c.SetReadDeadline(time.Now().Add(time.Minute))).To(Succeed())
	_, err = io.WriteString(c, text)
	g.Expect(err).NotTo(HaveOccurred())
	return c
}

// path is where the image is.
func (r *running) path() string {
	u, _ := url.Parse(r.url)
	return u.Path
}

// Who announces a body and never sends it would hold a place for ever: as many as
// there are places, and nobody is served.
func TestRequestsWithABodyTakeNoPlace(t *testing.T) {
	for name, headers := range map[string]string{
		"one byte, whole image":              "GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
		"one byte, small range":              "GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-99\r\nContent-Length: 1\r\n\r\n",
		"one byte, waiting for the go-ahead": "GET %s HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n",
		"a large one":                        "GET %s HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999\r\n\r\n",
		"no chunk, whole image":              "GET %s HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
		"no chunk, small range":              "GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-99\r\nTransfer-Encoding: chunked\r\n\r\n",
		"no chunk, large range":              "GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-99999\r\nTransfer-Encoding: chunked\r\n\r\n",
		"HEAD":                               "HEAD %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
		"a request to no image":              "OPTIONS *%.0s HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
		"another method":                     "POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			const places = 4
			r := start(t, func(o *server.Options) { o.MaxTotal = places })
			var conns []net.Conn
			for range places {
				conns = append(conns, r.dial(t, "127.0.0.1", fmt.Sprintf(headers, r.path())))
			}
			for _, c := range conns {
				answers := bufio.NewReader(c)
				method, _, _ := strings.Cut(headers, " ")
				answer, err := http.ReadResponse(answers, &http.Request{Method: method})
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(answer.StatusCode).To(Equal(http.StatusBadRequest))
				g.Expect(answer.Close).To(BeTrue())
				_, err = io.Copy(io.Discard, answer.Body)
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(answer.Body.Close()).To(Succeed())
				_, err = answers.ReadByte()
				g.Expect(err).To(MatchError(io.EOF), "the connection ends, too")
			}
			g.Expect(r.values(t)).To(HaveKeyWithValue("ironflow_images_readers", 0.0))
			answer, body := r.do(t, http.MethodGet, r.url)
			g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
			g.Expect(body).To(Equal(r.model))
		})
	}
}

// Headers that come drop by drop, or not to an end, hold a connection for as long
// as a header may take.
func TestAHeaderHasItsTime(t *testing.T) {
	for name, pause := range map[string]time.Duration{"by drops": 5 * time.Millisecond, "never ends": time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			r := start(t, func(o *server.Options) { o.HeaderTimeout = 300 * time.Millisecond })
			c := r.dial(t, "127.0.0.1", "GET "+r.path()+" HTTP/1.1\r\nHost: x\r\nX: ")
			ended, stop := context.WithCancel(t.Context())
			defer stop()
			go func() {
				for {
					select {
					case <-ended.Done():
						return
					case <-time.After(pause):
						_, _ = io.WriteString(c, "a")
					}
				}
			}()
			_, err := io.ReadAll(c) // the end, or a reset because of what was sent after it
			g.Expect(timedOut(err)).To(BeFalse(), "the server goes on waiting")
		})
	}
}

// Who takes a drop now and then would hold a place as long as the image has drops.
func TestAReaderThatTakesDropsIsDropped(t *testing.T) {
	g := NewWithT(t)
	// Buffers and segments as small as those of a slow line, so that drops are seen.
	small := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		set := func(fd uintptr) {
			err = errors.Join(syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_SNDBUF, 16<<10),
				syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, 1400))
		}
		if failed := c.Control(set); failed != nil {
			return failed
		}
		return err
	}}
	r := startOver(t, 48<<20, small, func(o *server.Options) { o.MaxTotal, o.ProgressTimeout = 1, 2*time.Second })
	c := r.dial(t, "127.0.0.1", "GET "+r.path()+" HTTP/1.1\r\nHost: x\r\n\r\n")
	g.Expect(c.(*net.TCPConn).SetReadBuffer(16 << 10)).To(Succeed())
	drop := make([]byte, 4<<10)
	for taken := 0; ; {
		<-time.After(50 * time.Millisecond) // 80 KiB in a second at most
		n, err := c.Read(drop)
		taken += n
		if err != nil {
			break
		}
		g.Expect(taken).To(BeNumerically("<", 512<<10), "it is still fed after many timeouts")
	}
	g.Eventually(func() int {
		answer, _ := r.do(t, http.MethodGet, r.url, "Range", "bytes=0-9")
		return answer.StatusCode
	}, time.Minute).Should(Equal(206), "its place is free")
	g.Expect(r.values(t)).To(HaveKeyWithValue("ironflow_images_stalled_readers_total", 1.0))
}

// closed tells whether the server has ended the connection.
func closed(c net.Conn) bool {
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	_, err := c.Read(make([]byte, 1))
	return err != nil && !timedOut(err)
}

// timedOut tells whether the test has waited in vain.
func timedOut(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// One machine cannot keep the others out with connections that ask for nothing.
func TestConnectionsOfOneAddress(t *testing.T) {
	g := NewWithT(t)
	const most = 3
	r := start(t, func(o *server.Options) { o.MaxPerAddress = most })
	var conns []net.Conn
	for range most {
		conns = append(conns, r.dial(t, "127.0.0.1", ""))
	}
	g.Expect(closed(r.dial(t, "127.0.0.1", ""))).To(BeTrue())
	g.Expect(r.values(t)).To(HaveKeyWithValue("ironflow_images_refused_connections_total address_limit", 1.0))
	ask := "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"
	other, _ := next(t, bufio.NewReader(r.dial(t, "127.0.0.2", ask)))
	g.Expect(other.StatusCode).To(Equal(http.StatusOK), "another address")
	g.Expect(conns[0].Close()).To(Succeed())
	g.Eventually(func() error { // the server learns of it a moment later
		answer, err := http.ReadResponse(bufio.NewReader(r.dial(t, "127.0.0.1", ask)), nil)
		if err != nil {
			return err
		}
		return answer.Body.Close()
	}, time.Minute).Should(Succeed(), "one of its connections has ended")
}

func TestConnectionsInAll(t *testing.T) {
	g := NewWithT(t)
	cert, key := certificate(t, t.TempDir(), "one")
	r := start(t, func(o *server.Options) { o.MaxConnections, o.CertFile, o.KeyFile = 2, cert, key })
	secure, err := url.Parse(r.https)
	g.Expect(err).NotTo(HaveOccurred())
	c, err := new(net.Dialer).DialContext(t.Context(), "tcp", secure.Host)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { c.Close() })
	answer, _ := r.do(t, http.MethodGet, r.root()+"/live") // accepted after the other, which counts
	g.Expect(answer.StatusCode).To(Equal(http.StatusOK))
	g.Eventually(func() bool { return closed(r.dial(t, "127.0.0.3", "")) }, time.Minute).Should(BeTrue())
	g.Expect(r.values(t)["ironflow_images_refused_connections_total total_limit"]).To(BeNumerically(">", 0))
}

// Who asks for the whole image right after a sector, and then takes nothing, holds
// its place no longer than others do.
func TestASecondRequestHasItsTimeToo(t *testing.T) {
	for name, first := range map[string]string{
		"after a sector":   "GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-2047\r\n\r\n",
		"after the header": "HEAD %s HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := startLarge(t, func(o *server.Options) { o.MaxTotal, o.ProgressTimeout = 1, 2*time.Second })
			r.dial(t, "127.0.0.1", fmt.Sprintf(first, r.path())+"GET "+r.path()+" HTTP/1.1\r\nHost: x\r\n\r\n")
			g.Eventually(func() float64 { return r.values(t)["ironflow_images_stalled_readers_total"] }, 20*time.Second).Should(Equal(1.0))
			g.Eventually(func() float64 { return r.values(t)["ironflow_images_readers"] }, 20*time.Second).Should(BeZero(), "its place is free")
		})
	}
}

// A connection may rest between two requests for longer than an answer may stall.
func TestAConnectionThatRestsIsAnsweredAgain(t *testing.T) {
	g := NewWithT(t)
	const timeout = 200 * time.Millisecond
	r := start(t, func(o *server.Options) { o.ProgressTimeout = timeout })
	c := r.dial(t, "127.0.0.1", "")
	answers := bufio.NewReader(c)
	for _, headers := range []string{"", "", "Connection: keep-alive\r\n", ""} {
		_, err := io.WriteString(c, r.sector("HTTP/1.1", 3, headers))
		g.Expect(err).NotTo(HaveOccurred())
		got, body := next(t, answers)
		g.Expect(got.StatusCode).To(Equal(http.StatusPartialContent))
		g.Expect(body).To(Equal(r.model[3*2048 : 4*2048]))
		<-time.After(2 * timeout)
	}
}

// A header that stops where the reader of requests has room for a single byte goes on when the rest comes.
func TestAHeaderThatLeavesRoomForOneByte(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	for _, left := range []int{0, 1, 2} {
		request := r.sector("HTTP/1.1", 3, "X-Pad: "+strings.Repeat("x", 5000)+"\r\n")
		c := r.dial(t, "127.0.0.1", request[:4096-left])
		<-time.After(50 * time.Millisecond)
		_, err := io.WriteString(c, request[4096-left:])
		g.Expect(err).NotTo(HaveOccurred())
		got, body := next(t, bufio.NewReader(c))
		g.Expect(got.StatusCode).To(Equal(http.StatusPartialContent))
		g.Expect(body).To(Equal(r.model[3*2048 : 4*2048]))
	}
}

// Requests that are sent before the answers to earlier ones are answered in their order.
func TestRequestsThatDoNotWaitForAnswers(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	const count = 100
	var text strings.Builder
	for i := range count {
		text.WriteString(r.sector("HTTP/1.1", i, ""))
	}
	answers := bufio.NewReader(r.dial(t, "127.0.0.1", text.String()))
	for i := range count {
		got, body := next(t, answers)
		g.Expect(got.StatusCode).To(Equal(http.StatusPartialContent))
		g.Expect(body).To(Equal(r.model[i*2048:(i+1)*2048]), "sector %d", i)
	}
}

// A reader that goes in the middle of an answer gives its place back, long before it would be
// dropped for taking nothing.
func TestAReaderThatGoesGivesItsPlaceBack(t *testing.T) {
	g := NewWithT(t)
	r := startLarge(t, func(o *server.Options) { o.ProgressTimeout = time.Hour })
	c := r.slowReader(t)
	readers := func() float64 { return r.values(t)["ironflow_images_readers"] }
	g.Eventually(readers, time.Minute).Should(Equal(1.0))
	<-time.After(50 * time.Millisecond) // it is stuck by then
	g.Expect(c.Close()).To(Succeed())
	g.Eventually(readers, time.Minute).Should(BeZero())
}
