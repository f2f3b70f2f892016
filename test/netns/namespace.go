package netns

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"
	vns "github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// namespace is one network namespace, held open by its file.
type namespace struct {
	handle vns.NsHandle
	// link configures it from outside.
	link *netlink.Handle
}

// newNamespace makes a namespace that ends with the test.
func newNamespace(t testing.TB) *namespace {
	t.Helper()
	n := &namespace{handle: vns.None()}
	err := onThread(vns.None(), func() (err error) {
		n.handle, err = vns.New()
		return err
	})
	if err != nil {
		t.Fatalf("make a network namespace: %v", err)
	}
	t.Cleanup(func() { _ = n.handle.Close() })
	n.link, err = netlink.NewHandleAt(n.handle, unix.NETLINK_ROUTE)
	if err != nil {
		t.Fatalf("open netlink in a namespace: %v", err)
	}
	t.Cleanup(n.link.Close)
	return n
}

// onThread calls f on a thread of its own, inside the namespace if one is given,
// and leaves the thread as it was. What f starts in other goroutines is not
// inside.
func onThread(inside vns.NsHandle, f func() error) error {
	failed := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		outside, err := vns.Get()
		if err != nil {
			failed <- err
			return
		}
		defer func() { _ = outside.Close() }()
		if inside.IsOpen() {
			err = vns.Set(inside)
		}
		if err == nil {
			err = f()
		}
		// A thread that cannot go back stays locked and ends with the goroutine.
		if vns.Set(outside) == nil {
			runtime.UnlockOSThread()
		}
		failed <- err
	}()
	return <-failed
}

// sysctl sets a value below /proc/sys/net of the namespace.
func (n *namespace) sysctl(name, value string) error {
	return onThread(n.handle, func() error {
		if err := os.WriteFile("/proc/sys/net/"+name, []byte(value), 0o644); err != nil {
			return fmt.Errorf("sysctl net/%s: %w", name, err)
		}
		return nil
	})
}
