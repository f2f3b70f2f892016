package server

import (
	"net"
	"os"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// TestReadDeadlines runs the same cases on a plain connection and on one that
// tells the poller late.
func TestReadDeadlines(t *testing.T) {
	kinds := map[string]func(*net.TCPConn) net.Conn{
		"plain": func(c *net.TCPConn) net.Conn { return c },
		"lazy":  func(c *net.TCPConn) net.Conn { return &lazyReads{TCPConn: c} },
	}
	for kind, wrap := range kinds {
		t.Run(kind, func(t *testing.T) {
			for name, run := range deadlineCases {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					near, far := connected(t)
					run(&deadlineWorld{WithT: NewWithT(t), near: wrap(near), far: far})
				})
			}
		})
	}
}

const (
	// soon is how long a deadline is waited for, ample one that is to be moved before
	// it passes.
	soon  = 30 * time.Millisecond
	ample = 2 * time.Second
)

var deadlineCases = map[string]func(w *deadlineWorld){
	"one that has passed ends a read before it begins": func(w *deadlineWorld) {
		w.deadline(-time.Hour)
		w.sends("x")
		w.timesOut()
	},
	"one that has passed is forgotten": func(w *deadlineWorld) {
		w.deadline(-time.Hour)
		w.timesOut()
		w.deadline(0)
		w.sends("x")
		w.reads("x")
	},
	"it ends a read": func(w *deadlineWorld) {
		w.deadline(soon)
		w.timesOut()
		w.deadline(soon)
		w.timesOut()
	},
	"a read that waits is interrupted": func(w *deadlineWorld) {
		result := w.waits()
		w.deadline(-time.Hour)
		w.Expect((<-result).err).To(MatchError(os.ErrDeadlineExceeded))
	},
	"an earlier one while a read waits": func(w *deadlineWorld) {
		w.deadline(time.Hour)
		result := w.waits()
		w.deadline(soon)
		w.Expect((<-result).err).To(MatchError(os.ErrDeadlineExceeded))
	},
	"a later one while a read waits": func(w *deadlineWorld) {
		w.deadline(ample)
		result := w.waits()
		w.deadline(time.Hour)
		<-time.After(ample)
		w.sends("x")
		w.Expect(<-result).To(Equal(outcome{text: "x"}))
	},
	"none any more while a read waits": func(w *deadlineWorld) {
		w.deadline(ample)
		result := w.waits()
		w.deadline(0)
		<-time.After(ample)
		w.sends("x")
		w.Expect(<-result).To(Equal(outcome{text: "x"}))
	},
	"one that was replaced before the read": func(w *deadlineWorld) {
		w.deadline(time.Hour)
		w.sends("x")
		w.reads("x")
		w.deadline(soon)
		w.timesOut()
		w.deadline(0)
		w.sends("y")
		w.reads("y")
	},
	"one for both directions": func(w *deadlineWorld) {
		w.Expect(w.near.SetDeadline(time.Now().Add(-time.Hour))).To(Succeed())
		w.timesOut()
		_, err := w.near.Write([]byte("x"))
		w.Expect(err).To(MatchError(os.ErrDeadlineExceeded))
	},
}

// deadlineWorld is a connection whose deadlines are tried, and its other end.
type deadlineWorld struct {
	*WithT
	near, far net.Conn
}

// outcome is what a read brought.
type outcome struct {
	text string
	err  error
}

func (w *deadlineWorld) read() outcome {
	var b [8]byte
	n, err := w.near.Read(b[:])
	return outcome{string(b[:n]), err}
}

// waits begins a read that finds nothing yet.
func (w *deadlineWorld) waits() <-chan outcome {
	result := make(chan outcome, 1)
	go func() { result <- w.read() }()
	<-time.After(soon / 3) // both ways are right when it has not begun by then
	return result
}

// deadline sets the read deadline from now, or with 0 none.
func (w *deadlineWorld) deadline(in time.Duration) {
	var at time.Time
	if in != 0 {
		at = time.Now().Add(in)
	}
	w.Expect(w.near.SetReadDeadline(at)).To(Succeed())
}

func (w *deadlineWorld) timesOut() { w.Expect(w.read().err).To(MatchError(os.ErrDeadlineExceeded)) }

func (w *deadlineWorld) reads(text string) { w.Expect(w.read()).To(Equal(outcome{text: text})) }

func (w *deadlineWorld) sends(text string) {
	_, err := w.far.Write([]byte(text))
	w.Expect(err).NotTo(HaveOccurred())
}

// connected returns the two ends of a connection.
func connected(t *testing.T) (near *net.TCPConn, far net.Conn) {
	t.Helper()
	g := NewWithT(t)
	var listen net.ListenConfig
	l, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	g.Expect(err).NotTo(HaveOccurred())
	defer l.Close()
	var dial net.Dialer
	far, err = dial.DialContext(t.Context(), "tcp", l.Addr().String())
	g.Expect(err).NotTo(HaveOccurred())
	accepted, err := l.Accept()
	g.Expect(err).NotTo(HaveOccurred())
	t.Cleanup(func() { _ = far.Close(); _ = accepted.Close() })
	return accepted.(*net.TCPConn), far
}
