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
	// knows; while a read waits, applied is never the later one.
	wanted, applied time.Time
	reading         bool
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
		if l.end() || n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
	}
}

// begin readies the poller for a read. A deadline that it knows already may be an
// earlier one: end sees to that.
func (l *lazyReads) begin() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if passed(l.wanted, now) {
		return os.ErrDeadlineExceeded
	}
	if later(l.applied, l.wanted) || passed(l.applied, now) {
		if err := l.apply(); err != nil {
			return err
		}
	}
	l.reading = true
	return nil
}

// end tells whether the deadline that was asked for has passed.
func (l *lazyReads) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reading = false
	return passed(l.wanted, time.Now())
}

func (l *lazyReads) apply() error {
	l.applied = l.wanted
	return l.TCPConn.SetReadDeadline(l.wanted)
}

// later tells whether deadline a comes after b; none is the latest.
func later(a, b time.Time) bool {
	return !b.IsZero() && (a.IsZero() || a.After(b))
}

func passed(deadline, now time.Time) bool {
	return !deadline.IsZero() && !deadline.After(now)
}
