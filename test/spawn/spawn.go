// Package spawn starts processes that the kernel kills when this program ends,
// however it ends (PR_SET_PDEATHSIG).
package spawn

import (
	"errors"
	"os"
	"runtime"
	"sync"
	"syscall"
)

// ErrClosed is the error of a start after [Thread.Close].
var ErrClosed = errors.New("no more processes are started: everything is being taken down")

// Thread is an operating-system thread that starts processes. A parent-death
// signal is tied to the thread that forked, and Go's other threads come and go.
type Thread struct {
	requests chan func()
	closed   chan struct{}
	once     sync.Once
}

// NewThread returns a thread; [Thread.Close] ends it.
func NewThread() *Thread {
	t := &Thread{requests: make(chan func()), closed: make(chan struct{})}
	go t.run()
	return t
}

// run starts processes until the thread is closed.
func (t *Thread) run() {
	// Never unlocked: the thread ends with the goroutine, and the signal goes out.
	runtime.LockOSThread()
	if syscall.Gettid() == os.Getpid() { // the program's first thread, which does not end before the program
		go t.run() // on another one, since this one is kept
		<-t.closed
		return
	}
	for {
		select {
		case f := <-t.requests:
			f()
		case <-t.closed:
			return
		}
	}
}

// Close lets no new process start, and the kernel kills the running ones.
func (t *Thread) Close() { t.once.Do(func() { close(t.closed) }) }

// Do runs start, such as [os/exec.Cmd.Start], on the thread. The error is its
// own or [ErrClosed].
func (t *Thread) Do(start func() error) error {
	done := make(chan error, 1)
	select {
	case t.requests <- func() { done <- start() }:
		return <-done
	case <-t.closed:
		return ErrClosed
	}
}
