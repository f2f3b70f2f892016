package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// lazyReads is a TCP connection whose read deadlines reach the kernel's poller
// only when a read is bounded by them. net/http sets six of them a request, to
// interrupt a read that has often not begun, and most replace one that nobody
// has waited under; each costs the poller a timer.
//
// One goroutine may read at a time, as net/http does it.
type lazyReads struct {
	*net.TCPConn

	mu sync.Mutex
	// wanted is the deadline that was asked for, applied the one that the poller
	// knows. That may be an earlier one, which a read then outlives, but while a read
	// waits it is never a later one. early means that it has passed too early.
	wanted, applied time.Time
	early, reading  bool
}

// SetDeadline implements net.Conn.
func (l *lazyReads) SetDeadline(t time.Time) error {
	return errors.Join(l.SetReadDeadline(t), l.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (l *lazyReads) SetReadDeadline(t time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.wanted = t
	if l.reading && later(l.applied, t) {
		return l.apply()
	}
	return nil
}

// Read implements net.Conn.
func (l *lazyReads) Read(p []byte) (int, error) {
	for {
		if err := l.begin(); err != nil {
			return 0, err
		}
		n, err := l.TCPConn.Read(p)
		if !l.goesOn(n, err) {
			return n, err
		}
	}
}

// begin readies the poller for a read, unless its deadline has passed already.
func (l *lazyReads) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.early || later(l.applied, l.wanted) {
		if passed(l.wanted) {
			return os.ErrDeadlineExceeded
		}
		if err := l.apply(); err != nil {
			return err
		}
	}
	l.reading = true
	return nil
}

// goesOn ends a read, and tells whether it was only interrupted by a deadline that
// is not wanted any more.
func (l *lazyReads) goesOn(n int, err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading = false
	l.early = n == 0 && errors.Is(err, os.ErrDeadlineExceeded) && !passed(l.wanted)
	return l.early
}

func (l *lazyReads) apply() error {
	l.applied, l.early = l.wanted, false
	return l.TCPConn.SetReadDeadline(l.wanted)
}

// later tells whether deadline a comes after b; none is the latest.
func later(a, b time.Time) bool {
	return !b.IsZero() && (a.IsZero() || a.After(b))
}

func passed(deadline time.Time) bool {
	return !deadline.IsZero() && !deadline.After(time.Now())
}
