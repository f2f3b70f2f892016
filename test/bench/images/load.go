package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"
)

// load runs one bench against a target. The client is as thin as can be, because
// it shares the processors with the server.
func load(ctx context.Context, t *target, b bench) (*result, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(b.seconds*float64(time.Second)))
	defer cancel()
	var mu sync.Mutex
	total := &result{}
	start := time.Now()
	var group sync.WaitGroup
	for i := range b.conns {
		group.Go(func() {
			c := &client{target: t, bench: b, rng: rand.New(rand.NewPCG(uint64(i), 7)), //nolint:gosec // positions to read, not secrets
				buf: make([]byte, 256<<10)}
			c.run(ctx)
			mu.Lock()
			defer mu.Unlock()
			total.bytes += c.result.bytes
			total.wrong += c.result.wrong
			total.compared += c.result.compared
			total.dropped += c.result.dropped
			total.latencies = append(total.latencies, c.result.latencies...)
		})
	}
	group.Wait()
	total.elapsed = time.Since(start)
	if len(total.latencies) == 0 {
		return nil, fmt.Errorf("%s against %s: no request was answered", b.name, t.name)
	}
	return total, nil
}

// client is one connection at a time.
type client struct {
	target *target
	bench  bench
	rng    *rand.Rand
	buf    []byte
	conn   net.Conn
	reader *bufio.Reader
	asked  int // ranges
	result result
}

func (c *client) run(ctx context.Context) {
	defer c.hangUp()
	for ctx.Err() == nil {
		if c.conn == nil {
			conn, err := c.dial(ctx)
			if err != nil {
				continue
			}
			c.conn, c.reader = conn, bufio.NewReaderSize(conn, 4096)
		}
		begin := time.Now()
		n, err := c.request()
		if err != nil {
			c.result.dropped++
			c.hangUp()
			continue
		}
		c.result.bytes += n
		c.result.latencies = append(c.result.latencies, time.Since(begin))
		if c.bench.newConn {
			c.hangUp()
		}
	}
}

// cipherSuite is what both servers have to use.
const cipherSuite = tls.TLS_AES_128_GCM_SHA256

// dial connects; with another cipher than the agreed one the figures would say
// nothing, so that is an error.
func (c *client) dial(ctx context.Context) (net.Conn, error) {
	if !c.bench.tls {
		return new(net.Dialer).DialContext(ctx, "tcp", c.target.addr)
	}
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}} //nolint:gosec // our own server on loopback
	conn, err := dialer.DialContext(ctx, "tcp", c.target.tlsAddr)
	if err != nil {
		return nil, err
	}
	if used := conn.(*tls.Conn).ConnectionState().CipherSuite; used != cipherSuite {
		c.result.wrong++
		return nil, errors.Join(fmt.Errorf("cipher %s", tls.CipherSuiteName(used)), conn.Close())
	}
	return conn, nil
}

func (c *client) hangUp() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// sampleEvery is how many requests pass before the bytes of one are compared,
// which costs the client more than reading them.
const sampleEvery = 64

// request asks for one range and reads the answer to its end.
func (c *client) request() (int64, error) {
	path := c.target.paths[c.rng.IntN(len(c.target.paths))]
	head := fmt.Appendf(c.buf[:0], "GET %s HTTP/1.1\r\nHost: bench\r\n", path)
	want, off, sample := c.target.size, int64(0), false
	if c.bench.size > 0 {
		c.asked++
		sample = c.asked%sampleEvery == 0
		want = int64(c.bench.size)
		off = c.offset(want, sample)
		head = fmt.Appendf(head, "Range: bytes=%d-%d\r\n", off, off+want-1)
	}
	head = append(head, "\r\n"...)
	if _, err := c.conn.Write(head); err != nil {
		return 0, err
	}
	length, err := c.header()
	if err != nil {
		return 0, err
	}
	if length != want {
		c.result.wrong++
	}
	if sample && length == want {
		return length, c.compare(path, off, length)
	}
	return length, c.discard(length)
}

// offset is where a range begins: anywhere, or, for every second sample, at the
// end, where an image has what the base has not.
func (c *client) offset(length int64, sample bool) int64 {
	span := c.target.size - length
	if sample && c.asked/sampleEvery%2 == 0 {
		last := min(span, 8<<20)
		return (span - c.rng.Int64N(last)) &^ 2047
	}
	return c.rng.Int64N(span) &^ 2047
}

// compare reads the body and counts it as wrong unless it is what the address
// stands for.
func (c *client) compare(path string, off, length int64) error {
	body := make([]byte, 2*length)
	got, want := body[:length], body[length:]
	if _, err := io.ReadFull(c.reader, got); err != nil {
		return err
	}
	if n, err := c.target.content(path).ReadAt(want, off); n < len(want) {
		return err
	}
	c.result.compared++
	if !bytes.Equal(got, want) {
		c.result.wrong++
	}
	return nil
}

// header reads the status line and the headers, and returns the content's length.
func (c *client) header() (int64, error) {
	length := int64(-1)
	for first := true; ; first = false {
		line, err := c.reader.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		line = bytes.TrimSpace(line)
		switch {
		case first && !bytes.Contains(line, []byte(" 20")):
			return 0, fmt.Errorf("answer %s", line)
		case len(line) == 0:
			return length, nil
		case len(line) > 16 && bytes.EqualFold(line[:16], []byte("content-length: ")):
			if length, err = strconv.ParseInt(string(line[16:]), 10, 64); err != nil {
				return 0, err
			}
		}
	}
}

// discard reads the body, past the buffered reader as soon as that is empty.
func (c *client) discard(n int64) error {
	skipped, err := c.reader.Discard(int(min(n, int64(c.reader.Buffered()))))
	n -= int64(skipped)
	for n > 0 && err == nil {
		var k int
		k, err = c.conn.Read(c.buf[:min(n, int64(len(c.buf)))])
		n -= int64(k)
		if errors.Is(err, io.EOF) && n > 0 {
			err = io.ErrUnexpectedEOF
		}
	}
	return err
}
