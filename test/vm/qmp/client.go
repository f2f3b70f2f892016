package qmp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
)

// ErrClosed says that the connection has ended, mostly because QEMU has.
var ErrClosed = errors.New("the connection to QEMU has ended")

// Client is one connection. Its methods may be called from any goroutine.
type Client struct {
	conn   net.Conn
	events func(Event)
	done   chan struct{}

	mu      sync.Mutex
	last    int
	waiting map[int]chan message
	closed  bool
}

// Accept waits until QEMU connects to the listener, and makes the connection
// ready for commands. Events go to the function, one after the other; it must
// not wait for a command's answer.
func Accept(ctx context.Context, listener net.Listener, events func(Event)) (*Client, error) {
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	conn, err := listener.Accept()
	if !stop() || err != nil {
		if conn != nil {
			_ = conn.Close()
		}
		return nil, fmt.Errorf("wait for QEMU's connection: %w", errors.Join(err, context.Cause(ctx)))
	}
	return New(ctx, conn, events)
}

// New makes a connection ready for commands; on an error it is closed.
func New(ctx context.Context, conn net.Conn, events func(Event)) (*Client, error) {
	c := &Client{conn: conn, events: events, done: make(chan struct{}), waiting: map[int]chan message{}}
	go c.read()
	// QEMU reads the command after its greeting, which need not be awaited.
	if err := c.Execute(ctx, "qmp_capabilities", nil, nil); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// Done is closed when the connection has ended and all its events were given.
func (c *Client) Done() <-chan struct{} { return c.done }

// Close ends the connection. Commands under way fail with [ErrClosed].
func (c *Client) Close() { _ = c.conn.Close() }

// Execute runs a command with its arguments (nil for none) and reads its answer
// into result (nil to leave it). The error is an [*Error] if QEMU refused.
func (c *Client) Execute(ctx context.Context, command string, arguments, result any) error {
	id, answer, err := c.expect()
	if err != nil {
		return fmt.Errorf("QEMU's %s: %w", command, err)
	}
	defer c.forget(id)
	line, err := json.Marshal(request{Execute: command, Arguments: arguments, ID: id})
	if err != nil {
		return fmt.Errorf("encode QEMU's %s: %w", command, err)
	}
	if err := c.write(append(line, '\n')); err != nil {
		return fmt.Errorf("QEMU's %s: %w", command, err)
	}
	select {
	case m, ok := <-answer:
		if !ok {
			return fmt.Errorf("QEMU's %s: %w", command, ErrClosed)
		}
		return m.answer(command, result)
	case <-ctx.Done():
		return fmt.Errorf("QEMU's %s: %w", command, context.Cause(ctx))
	}
}

// answer reads what QEMU answers to the command.
func (m message) answer(command string, result any) error {
	if m.Error != nil {
		m.Error.Command = command
		return m.Error
	}
	if result == nil {
		return nil
	}
	if err := json.Unmarshal(m.Return, result); err != nil {
		return fmt.Errorf("answer of QEMU's %s: %w", command, err)
	}
	return nil
}

// expect takes a number for a command and waits for its answer.
func (c *Client) expect() (int, <-chan message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, nil, ErrClosed
	}
	c.last++
	answer := make(chan message, 1)
	c.waiting[c.last] = answer
	return c.last, answer, nil
}

func (c *Client) forget(id int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
}

func (c *Client) write(line []byte) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.conn.Write(line)
	return err
}

// read hands out what QEMU writes, until the connection ends.
func (c *Client) read() {
	defer close(c.done)
	defer c.end()
	lines := bufio.NewScanner(c.conn)
	lines.Buffer(nil, maxMessage)
	for lines.Scan() {
		m, err := parse(lines.Bytes())
		switch {
		case err != nil:
			return
		case m.Event != "":
			c.events(m.event())
		case m.ID != nil:
			c.give(*m.ID, m)
		}
	}
}

// give hands an answer to whoever waits for it.
func (c *Client) give(id int, m message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if answer, ok := c.waiting[id]; ok {
		answer <- m
		delete(c.waiting, id)
	}
}

// end tells all who wait that nothing comes any more.
func (c *Client) end() {
	_ = c.conn.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for id, answer := range c.waiting {
		close(answer)
		delete(c.waiting, id)
	}
}
