package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/imagecustomization/server"
)

// talk sends text on a new connection and returns what comes back, in answers.
func (r *running) talk(t *testing.T, text string) *bufio.Reader {
	t.Helper()
	g := NewWithT(t)
	u, err := url.Parse(r.url)
	g.Expect(err).NotTo(HaveOccurred())
	var dial net.Dialer
	c, err := dial.DialContext(t.Context(), "tcp", u.Host)
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { c.Close() })
	_, err = io.WriteString(c, text)
	g.Expect(err).NotTo(HaveOccurred())
	return bufio.NewReader(c)
}

// next reads an answer with its body.
func next(t *testing.T, from *bufio.Reader) (answer, []byte) {
	t.Helper()
	g := NewWithT(t)
	response, err := http.ReadResponse(from, nil)
	g.Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	g.Expect(err).NotTo(HaveOccurred())
	return answer{StatusCode: response.StatusCode, Header: response.Header, ContentLength: response.ContentLength, Proto: response.Proto}, body
}

// sector is a request for a small range.
func (r *running) sector(proto string, n int, headers string) string {
	u, _ := url.Parse(r.url)
	return fmt.Sprintf("GET %s %s\r\nHost: x\r\nRange: bytes=%d-%d\r\n%s\r\n", u.Path, proto, n*2048, n*2048+2047, headers)
}

// TestDirectAnswersAreOrdinaryAnswers compares an answer of the connection's own with one
// of net/http's.
func TestDirectAnswersAreOrdinaryAnswers(t *testing.T) {
	r := start(t, nil)
	for name, c := range map[string]struct{ first, last int }{
		"a sector": {6144, 8191}, "a page": {4096, 8191}, "as much as is read into memory": {2048, 2048 + 16<<10 - 1},
		"a byte more": {2048, 2048 + 16<<10}, "from the middle of a page": {5000, 200000}, "from a page": {8192, 300000},
		"to the end": {4097, len(r.model) - 1}, "all": {0, len(r.model) - 1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			ask := func(headers string) (answer, []byte) {
				return next(t, r.talk(t, fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=%d-%d\r\n%s\r\n", r.path(), c.first, c.last, headers)))
			}
			direct, body := ask("User-Agent: a BMC (x)\r\nAccept: */*\r\nConnection: Keep-Alive\r\n")
			ordinary, same := ask("X-Other: 1\r\n")
			g.Expect(direct.StatusCode).To(Equal(ordinary.StatusCode))
			g.Expect(direct.ContentLength).To(Equal(ordinary.ContentLength))
			for _, h := range []http.Header{direct.Header, ordinary.Header} {
				_, err := http.ParseTime(h.Get("Date"))
				g.Expect(err).NotTo(HaveOccurred())
				h.Del("Date")
			}
			g.Expect(direct.Header).To(Equal(ordinary.Header))
			g.Expect(direct.Header.Get("Content-Range")).To(Equal(fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, len(r.model))))
			g.Expect(bytes.Equal(body, same)).To(BeTrue())
			g.Expect(bytes.Equal(body, r.model[c.first:c.last+1])).To(BeTrue())
		})
	}
}

func TestDirectAnswersOnOneConnection(t *testing.T) {
	g := NewWithT(t)
	r := start(t, nil)
	var all bytes.Buffer
	const many = 50
	for n := range many { // all at once, without waiting for an answer
		all.WriteString(r.sector("HTTP/1.1", n, ""))
	}
	all.WriteString("HEAD /live HTTP/1.1\r\nHost: x\r\n\r\nGET /live HTTP/1.1\r\nHost: x\r\n\r\n")
	all.WriteString(r.sector("HTTP/1.1", many, "") + "this is no request\r\n\r\n")
	answers := r.talk(t, all.String())
	sector := func(n int) {
		response, body := next(t, answers)
		g.Expect(response.StatusCode).To(Equal(http.StatusPartialContent))
		g.Expect(bytes.Equal(body, r.model[n*2048:(n+1)*2048])).To(BeTrue(), "sector %d", n)
	}
	for n := range many {
		sector(n)
	}
	head, err := http.ReadResponse(answers, &http.Request{Method: http.MethodHead})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(head.Body.Close()).To(Succeed())
	g.Expect(head.StatusCode).To(Equal(http.StatusOK))
	_, body := next(t, answers)
	g.Expect(string(body)).To(Equal("ok\n"))
	sector(many)
	bad, _ := next(t, answers)
	g.Expect(bad.StatusCode).To(Equal(http.StatusBadRequest), "the refusal is not taken for what is to be dropped")
	_, err = answers.ReadByte()
	g.Expect(err).To(MatchError(io.EOF))
}

func TestOrdinaryAnswersEndTheConnectionWhenAsked(t *testing.T) {
	r := start(t, nil)
	for name, request := range map[string]string{
		"Connection: close": r.sector("HTTP/1.1", 1, "Connection: close\r\n"),
		"HTTP/1.0":          r.sector("HTTP/1.0", 1, ""),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			answers := r.talk(t, request)
			response, body := next(t, answers)
			g.Expect(response.StatusCode).To(Equal(http.StatusPartialContent))
			g.Expect(body).To(Equal(r.model[2048:4096]))
			_, err := answers.ReadByte()
			g.Expect(err).To(MatchError(io.EOF))
		})
	}
}

// What follows a direct answer is net/http's, whatever it is, and the next range is right again.
func TestDirectAnswersBetweenOthers(t *testing.T) {
	r := start(t, nil)
	for name, c := range map[string]struct {
		request string
		code    int
	}{
		"a whole image":              {"GET PATH HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusOK},
		"several ranges":             {"GET PATH HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9,20-29\r\n\r\n", http.StatusPartialContent},
		"a range outside":            {"GET PATH HTTP/1.1\r\nHost: x\r\nRange: bytes=99999999999-\r\n\r\n", http.StatusRequestedRangeNotSatisfiable},
		"a range of another image":   {"GET PATH HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\nIf-Range: \"other\"\r\n\r\n", http.StatusOK},
		"a precondition":             {"GET PATH HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\nIf-Match: \"other\"\r\n\r\n", http.StatusPreconditionFailed},
		"no image":                   {"GET /images/none HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", http.StatusNotFound},
		"a path with an escape":      {"GET /%6cive HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", http.StatusOK},
		"a query":                    {"GET PATH?x=y HTTP/1.1\r\nHost: x\r\nRange: bytes=0-9\r\n\r\n", http.StatusPartialContent},
		"a header of several lines":  {"GET PATH HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\nRange: bytes=0-9\r\n\r\n", http.StatusPartialContent},
		"a request of bare newlines": {"GET PATH HTTP/1.1\nHost: x\nRange: bytes=0-9\n\n", http.StatusPartialContent},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			far := r.dial(t, "127.0.0.1", "")
			answers := bufio.NewReader(far)
			for n := range 3 {
				_, err := io.WriteString(far, r.sector("HTTP/1.1", n, ""))
				g.Expect(err).NotTo(HaveOccurred())
				_, body := next(t, answers)
				g.Expect(body).To(Equal(r.model[n*2048:(n+1)*2048]), "sector %d", n)
				_, err = io.WriteString(far, strings.ReplaceAll(c.request, "PATH", r.path()))
				g.Expect(err).NotTo(HaveOccurred())
				other, _ := next(t, answers)
				g.Expect(other.StatusCode).To(Equal(c.code))
			}
		})
	}
}

// A body may look like a request. It is none.
func TestABodyIsNoRequest(t *testing.T) {
	r := start(t, nil)
	inner := r.sector("HTTP/1.1", 1, "")
	for name, c := range map[string]struct{ request, body string }{
		"of a length":     {fmt.Sprintf("OPTIONS * HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", len(inner)), inner},
		"in chunks":       {"OPTIONS * HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(inner), inner)},
		"with the header": {r.sector("HTTP/1.1", 0, fmt.Sprintf("Content-Length: %d\r\n", len(inner))) + inner, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			far := r.dial(t, "127.0.0.1", r.sector("HTTP/1.1", 0, ""))
			answers := bufio.NewReader(far)
			_, body := next(t, answers)
			g.Expect(body).To(Equal(r.model[:2048]))
			_, err := io.WriteString(far, c.request)
			g.Expect(err).NotTo(HaveOccurred())
			refusal, _ := next(t, answers)
			g.Expect(refusal.StatusCode).To(Equal(http.StatusBadRequest))
			_, _ = io.WriteString(far, c.body) // the server may have gone
			rest, err := io.ReadAll(answers)
			g.Expect(timedOut(err)).To(BeFalse())
			g.Expect(rest).To(BeEmpty())
		})
	}
}

// The time that the first header has does not end a connection that rests after its answer,
// and a later header has as much.
func TestTheHeaderAfterADirectAnswerHasItsTime(t *testing.T) {
	g := NewWithT(t)
	const timeout = 300 * time.Millisecond
	r := start(t, func(o *server.Options) { o.HeaderTimeout = timeout })
	far := r.dial(t, "127.0.0.1", "")
	answers := bufio.NewReader(far)
	for n := range 2 {
		_, err := io.WriteString(far, r.sector("HTTP/1.1", n, ""))
		g.Expect(err).NotTo(HaveOccurred())
		_, body := next(t, answers)
		g.Expect(body).To(Equal(r.model[n*2048 : (n+1)*2048]))
		<-time.After(2 * timeout)
	}
	_, err := io.WriteString(far, "GET /live HTTP/1.1\r\nHost: x\r\nX: ")
	g.Expect(err).NotTo(HaveOccurred())
	_, err = io.ReadAll(answers)
	g.Expect(timedOut(err)).To(BeFalse(), "the server goes on waiting")
}

// The time of rest begins with the end of an answer, however long that took.
func TestRestBeginsWithTheEndOfAnAnswer(t *testing.T) {
	for name, headers := range map[string]string{"direct": "", "by net/http": "X-Other: 1\r\n"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := NewWithT(t)
			const rest = time.Second
			r := startLarge(t, func(o *server.Options) { o.IdleTimeout = rest })
			far := r.dial(t, "127.0.0.1", fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=0-\r\n%s\r\n", r.path(), headers))
			<-time.After(rest + rest/2) // the answer waits to be taken
			_, err := io.WriteString(far, r.sector("HTTP/1.1", 1, headers))
			g.Expect(err).NotTo(HaveOccurred())
			answers := bufio.NewReader(far)
			_, body := next(t, answers)
			g.Expect(bytes.Equal(body, r.model)).To(BeTrue())
			_, body = next(t, answers)
			g.Expect(body).To(Equal(r.model[2048:4096]))
			g.Expect(closed(far)).To(BeTrue(), "it has rested long enough")
		})
	}
}

// When the server stops, an answer that is under way is sent to its end, and a connection
// at rest is closed, whether net/http has seen a request of it or not.
func TestAnswersEndWhenTheServerStops(t *testing.T) {
	for name, first := range map[string]string{"first request": "", "later request": "GET /live HTTP/1.1\r\nHost: x\r\n\r\n"} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			r := startLarge(t, nil)
			begin := func(request string) *bufio.Reader {
				far := r.dial(t, "127.0.0.1", first)
				answers := bufio.NewReader(far)
				if first != "" {
					_, body := next(t, answers)
					g.Expect(string(body)).To(Equal("ok\n"))
				}
				_, err := io.WriteString(far, request)
				g.Expect(err).NotTo(HaveOccurred())
				return answers
			}
			resting := begin(r.sector("HTTP/1.1", 3, ""))
			_, body := next(t, resting)
			g.Expect(body).To(Equal(r.model[3*2048 : 4*2048]))
			last := len(r.model) - 1
			reading := begin(fmt.Sprintf("GET %s HTTP/1.1\r\nHost: x\r\nRange: bytes=1-%d\r\n\r\n", r.path(), last))
			_, err := reading.Peek(1)
			g.Expect(err).NotTo(HaveOccurred())
			r.stop()
			_, err = resting.ReadByte()
			g.Expect(err).To(MatchError(io.EOF), "nothing is under way")
			_, body = next(t, reading)
			g.Expect(bytes.Equal(body, r.model[1:])).To(BeTrue())
			_, err = reading.ReadByte()
			g.Expect(err).To(MatchError(io.EOF))
			g.Expect(<-r.stopped).To(Succeed())
			r.stopped <- nil
		})
	}
}

// lateListener accepts one connection more, a while after it was closed.
type lateListener struct {
	*net.TCPListener
	closing sync.Once
	closed  chan struct{}
}

// Accept implements net.Listener.
func (l *lateListener) Accept() (net.Conn, error) {
	select {
	case <-l.closed:
		return l.TCPListener.Accept()
	default:
	}
	c, err := l.TCPListener.Accept()
	<-l.closed
	<-time.After(100 * time.Millisecond)
	return c, errors.Join(err, l.TCPListener.Close())
}

// Close implements net.Listener.
func (l *lateListener) Close() error {
	l.closing.Do(func() { close(l.closed) })
	return nil
}

// A connection that is accepted while the server stops, and asks for nothing, is not waited for.
func TestALateConnectionDoesNotHoldTheServerUp(t *testing.T) {
	g := NewWithT(t)
	r := startLarge(t, nil)
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	slow, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(t.Context())
	s := server.New(server.Options{Store: r.store, Log: logr.Discard()})
	stopped := make(chan error, 1)
	go func() {
		late := &lateListener{TCPListener: l.(*net.TCPListener), closed: make(chan struct{})}
		stopped <- s.Serve(ctx, []server.Listener{{Listener: late}, {Listener: slow}})
	}()
	// An answer that is not taken: for as long as that may take, the server does not end.
	slowReader(t, "http://"+slow.Addr().String()+r.path())
	readers := func() int {
		p, _ := r.store.Progress("metal/host-0")
		return p.Readers
	}
	g.Eventually(readers, time.Minute).Should(Equal(1))
	late, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	defer late.Close()
	stop()
	g.Expect(closed(late)).To(BeTrue())
	g.Expect(stopped).NotTo(Receive(), "it was closed at once, not at the end")
	g.Expect(<-stopped).To(Succeed())
}
