package booted

import (
	"context"
	"fmt"
	"net"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// Network is the file of the machine's network namespace, for those who plug cards in.
func (m *Machine) Network() string { return fmt.Sprintf("/proc/%d/ns/net", m.PID) }

// Dial connects from inside the machine's network.
func (m *Machine) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return within(m.Network(), func() (net.Conn, error) { return new(net.Dialer).DialContext(ctx, network, address) })
}

// Listen opens a listener inside the machine's network, at an address that the machine has, host and port.
func (m *Machine) Listen(ctx context.Context, address string) (net.Listener, error) {
	return within(m.Network(), func() (net.Listener, error) { return new(net.ListenConfig).Listen(ctx, "tcp", address) })
}

// within calls f on a thread of its own inside a network namespace. Sockets that f opens
// stay inside.
func within[T any](namespace string, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result)
	go func() {
		runtime.LockOSThread() // never unlocked: a thread of another network must not be used again
		ns, err := os.Open(namespace)
		if err != nil {
			done <- result{err: err}
			return
		}
		defer ns.Close()
		if err := unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET); err != nil {
			done <- result{err: fmt.Errorf("enter %s: %w", namespace, err)}
			return
		}
		value, err := f()
		done <- result{value, err}
	}()
	r := <-done
	return r.value, r.err
}
