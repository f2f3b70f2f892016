package server

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

// BMCs read an image in hundreds of thousands of requests, which differ in their range only.
// net/http takes a quarter of the processor time of such an answer of 64 KiB, and more of one
// of 2 KiB (r64k and r2k of `make bench-images`). So a connection answers them by itself,
// while net/http waits for a request. What is not such a request, or is to be answered with
// anything else than its range, net/http gets to read, byte for byte.

// step is where a connection is in the sequence of requests.
type step int

const (
	// stepRest: net/http waits for a request, of which it has got nothing.
	stepRest step = iota
	// stepAnswer: it still waits, while the connection answers by itself.
	stepAnswer
	// stepRequest: it has got one whole request, and has not ended its answer.
	stepRequest
	// stepUnknown: it has got a part of a request, or more than one. It keeps the connection.
	stepUnknown
)

// Read implements net.Conn. It returns what net/http has to read.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.TCPConn.Read(p)
		if n == 0 || err != nil {
			return n, err
		}
		if c.step != stepRest {
			return n, c.enter(stepUnknown)
		}
		request, whole, plain := readRequest(p[:n])
		if plain {
			answered, err := c.answer(request)
			if err != nil {
				return 0, err
			}
			if answered {
				continue
			}
		}
		if whole {
			return n, c.enter(stepRequest)
		}
		// net/http may take it for the first request, whose time began with the connection.
		return n, errors.Join(c.SetReadDeadline(time.Now().Add(c.server.options.HeaderTimeout)), c.enter(stepUnknown))
	}
}

// answer answers a request for a range, unless the answer is another one than that range.
func (c *conn) answer(request rangeRequest) (answered bool, err error) {
	if string(request.path) != c.path {
		c.path = string(request.path)
	}
	s := c.server
	revision := s.options.Store.Lookup(c.path)
	if revision == nil || !revision.Intact() {
		return false, nil
	}
	kind, off, length := parseRange(string(request.ranges), revision.Image.Size())
	if kind != rangeOne || s.begin(revision) != "" {
		return false, nil
	}
	defer s.end(revision)
	if err := c.enter(stepAnswer); err != nil {
		return false, err
	}
	defer func() {
		if closed := c.enter(stepRest); err == nil {
			err = closed
		}
	}()
	if err := s.answerRange(revision, s.exchangeOf(c), off, length); err != nil {
		_ = c.admitted.Close() // the reason is known
		return true, err
	}
	return true, c.SetReadDeadline(time.Now().Add(s.options.IdleTimeout))
}

// answerRange sends header and bytes of a range, the first of them in one segment.
func (s *Server) answerRange(revision *images.Revision, x *exchange, off, length int64) error {
	s.metrics.answered(http.StatusPartialContent)
	c := x.conn
	c.head = append(c.head[:0], "HTTP/1.1 206 Partial Content\r\n"...)
	c.head = revision.AppendHeader(c.head)
	c.head = append(append(c.head, "Date: "...), s.dates.at(x.progress.begun)[0]...)
	c.head = append(c.head, "\r\nContent-Range: "...)
	c.head = append(appendContentRange(c.head, off, length, revision.Image.Size()), "\r\nContent-Length: "...)
	c.head = append(strconv.AppendInt(c.head, length, 10), "\r\n\r\n"...)

	x.transfer = transfer{revision: revision, off: off, end: off + length, progress: &x.progress}
	err := c.sendAll(&x.transfer)
	c.head = c.head[:0]
	if err != nil {
		s.ended(revision, &x.transfer, err)
	}
	return err
}
