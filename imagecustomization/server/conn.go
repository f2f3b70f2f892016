package server

import (
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/imagecustomization/overlay"
)

const (
	// smallRead is up to where reading into memory, for one write together with
	// the header, beats sendfile.
	smallRead = 16 << 10
	// pageSize is that of the page cache, or a part of it.
	pageSize = 4 << 10
	// maxSendfile is the most that one system call sends.
	maxSendfile = 1 << 20
)

// zeros is what runs of zeros are sent from.
var zeros [64 << 10]byte

// buffers are for small reads, with room for the header in front.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, smallRead+2048); return &b }}

// conn is a TCP connection that sends a [transfer] with as few system calls and
// copies as possible: extents of the medium by sendfile with an explicit offset (so that
// one open file serves everybody), the rest from memory, and the response header
// in the same segment as the first bytes.
//
// net/http finds ReadFrom by itself: it writes the header and hands the body
// over. Between hold and ReadFrom, Write keeps the header back.
type conn struct {
	*net.TCPConn
	server   *Server
	admitted *admitted
	raw      syscall.RawConn
	exchange exchange
	holding  bool
	head     []byte
	call     call
	path     string // of the last request that was answered directly, which the next one shares

	// mu guards what is seen by others than who reads: where it is, and whether it is to end.
	mu     sync.Mutex
	step   step
	closed bool
}

// call is the system call in progress, kept here so that waiting for the
// connection costs no allocation.
type call struct {
	// sendfile
	in  int
	off int64
	n   int
	// sendmsg
	data  []byte
	flags int
	// result
	sent int
	err  error

	// the two calls, bound once
	sendfile, sendmsg func(fd uintptr) bool
}

func newConn(s *Server, a *admitted) (*conn, error) {
	raw, err := a.SyscallConn()
	if err != nil {
		return nil, err
	}
	own := &conn{server: s, TCPConn: a.TCPConn, admitted: a, raw: raw}
	own.call.sendfile, own.call.sendmsg = own.call.trySendfile, own.call.trySendmsg
	return own, nil
}

func (c *call) trySendfile(out uintptr) bool {
	c.sent, c.err = unix.Sendfile(int(out), c.in, &c.off, c.n)
	return !errors.Is(c.err, unix.EAGAIN) && !errors.Is(c.err, unix.EINTR)
}

func (c *call) trySendmsg(out uintptr) bool {
	c.sent, c.err = unix.SendmsgN(int(out), c.data, nil, nil, c.flags)
	return !errors.Is(c.err, unix.EAGAIN) && !errors.Is(c.err, unix.EINTR)
}

// SetWriteDeadline implements net.Conn. net/http lifts the deadline after every
// answer; here it stays, because the answers that follow within a second share it,
// and later ones move it. See [progress].
func (c *conn) SetWriteDeadline(t time.Time) error {
	if t.IsZero() {
		return nil
	}
	return c.TCPConn.SetWriteDeadline(t)
}

// hold keeps what is written next back until ReadFrom.
func (c *conn) hold() { c.holding = true }

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.holding {
		c.head = append(c.head, p...)
		return len(p), nil
	}
	return c.TCPConn.Write(p)
}

// ReadFrom implements io.ReaderFrom.
func (c *conn) ReadFrom(r io.Reader) (int64, error) {
	t, ok := r.(*transfer)
	if !ok {
		return c.TCPConn.ReadFrom(r)
	}
	c.holding = false
	start := t.off
	err := c.sendAll(t)
	c.head = c.head[:0]
	return t.off - start, err
}

// sendAll sends the header and what follows: a small range in one write, of a large
// one the bytes up to the next page with the header and the rest segment by segment.
// What sendfile sends begins with a page then, without which an answer of 64 or 512 KiB
// takes 10 % more processor time. No more than that goes with the header: another page
// is one more to copy, which takes 3 % of an answer of 64 KiB.
func (c *conn) sendAll(t *transfer) error {
	n := t.end - t.off
	if n > smallRead {
		n = (pageSize - t.off%pageSize) % pageSize
	}
	if err := c.sendFirst(t, int(n)); err != nil {
		return err
	}
	for s := range t.revision.Image.Range(t.off, t.end-t.off) {
		more := s.Offset+s.Length < t.end
		if err := c.sendSegment(t, s, more); err != nil {
			return err
		}
	}
	return nil
}

// sendFirst sends the header with the first n bytes.
func (c *conn) sendFirst(t *transfer, n int) error {
	pooled := buffers.Get().(*[]byte)
	defer buffers.Put(pooled)
	at := len(c.head)
	*pooled = slices.Grow(append((*pooled)[:0], c.head...), n)
	buf := (*pooled)[:at+n]
	if read, err := t.revision.Image.ReadAt(buf[at:], t.off); read < n {
		return err
	}
	if err := c.send(buf, t.off+int64(n) < t.end, nil); err != nil {
		return err
	}
	t.served(int64(n))
	return nil
}

func (c *conn) sendSegment(t *transfer, s overlay.Segment, more bool) error {
	if f := fileOf(s); f != nil {
		return c.sendfile(t, f, s.SourceOffset, s.Length)
	}
	if s.Data != nil {
		return c.send(s.Data, more, t)
	}
	if s.Source != nil {
		_, err := io.Copy(writerOnly{c.TCPConn}, io.LimitReader(t, s.Length))
		return err
	}
	for left := s.Length; left > 0; {
		n := min(left, int64(len(zeros)))
		left -= n
		if err := c.send(zeros[:n], more || left > 0, t); err != nil {
			return err
		}
	}
	return nil
}

// writerOnly hides ReadFrom, so that io.Copy uses a buffer.
type writerOnly struct{ io.Writer }

// sendfile sends n bytes of the file at off.
func (c *conn) sendfile(t *transfer, f *os.File, off, n int64) error {
	// The medium keeps the file open as long as the transfer lives.
	c.call.in, c.call.off = int(f.Fd()), off
	for n > 0 {
		c.call.n = int(min(n, maxSendfile))
		if err := c.raw.Write(c.call.sendfile); err != nil {
			return err
		}
		switch {
		case c.call.err != nil:
			return os.NewSyscallError("sendfile", c.call.err)
		case c.call.sent == 0:
			return io.ErrUnexpectedEOF // the file was cut
		}
		n -= int64(c.call.sent)
		t.served(int64(c.call.sent))
	}
	return nil
}

// send writes p; more tells the kernel to wait for what follows before it sends
// a segment that is not full. t, unless nil, moves on with the bytes.
func (c *conn) send(p []byte, more bool, t *transfer) error {
	c.call.flags = unix.MSG_NOSIGNAL
	if more {
		c.call.flags |= unix.MSG_MORE
	}
	for len(p) > 0 {
		c.call.data = p
		if err := c.raw.Write(c.call.sendmsg); err != nil {
			return err
		}
		if c.call.err != nil {
			return os.NewSyscallError("sendmsg", c.call.err)
		}
		p = p[c.call.sent:]
		if t != nil {
			t.served(int64(c.call.sent))
		}
	}
	c.call.data = nil
	return nil
}
