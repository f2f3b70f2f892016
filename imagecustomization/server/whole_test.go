package server_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"testing"

	. "github.com/onsi/gomega"
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

// TestWholeAnswersAreOrdinaryAnswers compares an answer that is written whole with
// one of net/http's.
func TestWholeAnswersAreOrdinaryAnswers(t *testing.T) {
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
			whole, body := ask("")
			ordinary, same := ask("Connection: keep-alive\r\n")
			g.Expect(whole.StatusCode).To(Equal(ordinary.StatusCode))
			g.Expect(whole.ContentLength).To(Equal(ordinary.ContentLength))
			for _, h := range []http.Header{whole.Header, ordinary.Header} {
				_, err := http.ParseTime(h.Get("Date"))
				g.Expect(err).NotTo(HaveOccurred())
				h.Del("Date")
			}
			g.Expect(whole.Header).To(Equal(ordinary.Header))
			g.Expect(whole.Header.Get("Content-Range")).To(Equal(fmt.Sprintf("bytes %d-%d/%d", c.first, c.last, len(r.model))))
			g.Expect(bytes.Equal(body, same)).To(BeTrue())
			g.Expect(bytes.Equal(body, r.model[c.first:c.last+1])).To(BeTrue())
		})
	}
}

func TestWholeAnswersOnOneConnection(t *testing.T) {
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
