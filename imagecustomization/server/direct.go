package server

import (
	"context"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/images"
)

// BMCs read an image in hundreds of thousands of requests, which differ in their range only.
// net/http takes a quarter of the processor time of such an answer of 64 KiB, and more of one
// of 2 KiB (r64k and r2k of `make bench-images`). So a connection answers them by itself,
// while net/http waits for a request. What is not such a request, or is to be answered with
// anything else than its range, net/http gets to read, byte for byte.

// step is where net/http is in the sequence of requests.
type step int

const (
	// stepRest: it waits for a request, of which it has got nothing.
	stepRest step = iota
	// stepRequest: it has got one whole request, and has not ended its answer.
	stepRequest
	// stepUnknown: it has got a part of a request, or more than one. It keeps the connection.
	stepUnknown
)

// States of the answer that a connection gives by itself.
const (
	answerNone int32 = iota
	answerBegun
	// answerLast: the connection is to be closed after the answer.
	answerLast
)

// Read implements net.Conn. It returns what net/http has to read.
func (c *conn) Read(p []byte) (int, error) {
	for {
		n, err := c.TCPConn.Read(p)
		if n == 0 || err != nil {
			return n, err
		}
		if c.step != stepRest {
			c.step = stepUnknown
			return n, nil
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
			c.step = stepRequest
			return n, nil
		}
		c.step = stepUnknown
		// net/http may take it for the first request, whose time began with the connection.
		return n, c.SetReadDeadline(time.Now().Add(c.server.options.HeaderTimeout))
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
	c.answering.Store(answerBegun)
	defer c.answerEnded()
	if err := s.answerRange(revision, s.exchangeOf(c), off, length); err != nil {
		_ = c.admitted.Close() // the reason is known
		return true, err
	}
	if now := c.exchange.progress.begun; now.Sub(c.rested) >= deadlineStep {
		c.rested = now
		return true, c.SetReadDeadline(now.Add(idleTimeout))
	}
	return true, nil
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

// answerEnded is the end of an answer, and of the connection when that was the last one.
func (c *conn) answerEnded() {
	if c.answering.Swap(answerNone) == answerLast {
		_ = c.admitted.Close() // nothing is left to send
		close(c.lastEnded)
	}
}

// Close implements net.Conn. When the server stops, net/http closes the connections at
// rest, of which some are in the middle of an answer of their own: that is let to its end.
func (c *conn) Close() error {
	if c.server.ending.postpones(c) {
		return nil
	}
	return c.admitted.Close()
}

// ending is what the server has to end besides net/http.
type ending struct {
	mu sync.Mutex
	// unasked are the connections that net/http has got no request of. It would wait
	// for their first one a while.
	unasked map[*conn]struct{}
	// last are the connections whose last answer goes on when net/http has stopped.
	last []*conn
}

// connState is told by net/http what it does with a connection.
func (s *Server) connState(of net.Conn, state http.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	if state == http.StateIdle {
		if c.step == stepRequest {
			c.step = stepRest
		}
		return
	}
	s.ending.mu.Lock()
	defer s.ending.mu.Unlock()
	if state == http.StateNew {
		s.ending.unasked[c] = struct{}{}
	} else {
		delete(s.ending.unasked, c)
	}
}

// postpones tells whether a connection that is to be closed is closed after its answer.
func (e *ending) postpones(c *conn) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c.answering.Load() == answerBegun {
		c.lastEnded = make(chan struct{})
		if c.answering.CompareAndSwap(answerBegun, answerLast) {
			e.last = append(e.last, c)
		}
	}
	return c.answering.Load() == answerLast
}

// closeUnasked closes the connections that net/http knows no request of.
func (e *ending) closeUnasked() {
	e.mu.Lock()
	unasked := slices.Collect(maps.Keys(e.unasked))
	e.mu.Unlock()
	for _, c := range unasked {
		_ = c.Close() // there is nobody to tell
	}
}

// wait returns when all last answers have ended, which with the context they have to.
func (e *ending) wait(ctx context.Context) {
	e.mu.Lock()
	last := e.last
	e.mu.Unlock()
	for _, c := range last {
		select {
		case <-c.lastEnded:
		case <-ctx.Done():
			_ = c.admitted.Close() // its reader was too slow
		}
	}
}
