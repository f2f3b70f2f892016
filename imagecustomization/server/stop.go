package server

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// enter begins the next step of a connection, unless the connection was closed. After an
// answer of its own it is closed here.
func (c *conn) enter(next step) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.step = next
	if !c.closed {
		return nil
	}
	_ = c.admitted.Close() // nothing is left to send
	return net.ErrClosed
}

// Close implements net.Conn. When the server stops, net/http closes the connections at
// rest, of which some are in the middle of an answer of their own: that is let to its end.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.close()
}

func (c *conn) close() error {
	c.closed = true
	if c.step == stepAnswer {
		return nil
	}
	return c.admitted.Close()
}

// closeAtRest closes the connection unless net/http has got something of a request.
func (c *conn) closeAtRest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.step == stepRest || c.step == stepAnswer {
		_ = c.close() // there is nobody to tell
	}
}

// stopping ends what net/http does not end when a server stops: it waits a while for the
// first request of a connection, and knows nothing of answers that connections give by
// themselves.
type stopping struct {
	mu    sync.Mutex
	begun bool
	open  map[*conn]struct{}
	ended sync.WaitGroup // those that were open
}

// connState is told by net/http what it does with a connection.
func (e *stopping) connState(of net.Conn, state http.ConnState) {
	c, ok := of.(*conn)
	if !ok {
		return
	}
	switch {
	case state == http.StateNew:
		e.opened(c)
	case state == http.StateIdle && c.step == stepRequest:
		_ = c.enter(stepRest) // its next read fails when it is closed
	case state == http.StateClosed:
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, c)
		e.ended.Done()
	}
}

func (e *stopping) opened(c *conn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.open[c] = struct{}{}
	e.ended.Add(1)
	if e.begun {
		c.closeAtRest()
	}
}

// begin closes the connections at rest, now and from now on.
func (e *stopping) begin() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.begun = true
	for c := range e.open {
		c.closeAtRest()
	}
}

// wait returns when all connections have ended, which with the context they have to.
func (e *stopping) wait(ctx context.Context) {
	ended := make(chan struct{})
	go func() {
		e.ended.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		for c := range e.open {
			_ = c.admitted.Close() // its reader was too slow
		}
	}
}
