// Package balance is a load balancer for tests, which knows nothing of what is said: it hands
// connections in turn to several servers, and passes over one that takes none. The entry points
// are [Start] and [Serve].
package balance

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// gone is how long a server that is not there yet is waited for: nobody answers for its address.
const gone = time.Second

// Dial connects with a server.
type Dial func(context.Context) (net.Conn, error)

// TCP are the servers at these addresses, host and port each.
func TCP(addresses ...string) (all []Dial) {
	for _, a := range addresses {
		all = append(all, func(ctx context.Context) (net.Conn, error) {
			return (&net.Dialer{Timeout: gone}).DialContext(ctx, "tcp", a)
		})
	}
	return all
}

// Start balances what comes to a free port of the host until the test ends. It returns the
// address, host and port.
func Start(t testing.TB, host string, servers ...Dial) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	Serve(t, listener, servers...)
	return listener.Addr().String()
}

// Serve balances what comes to the listener until the test ends.
func Serve(t testing.TB, listener net.Listener, servers ...Dial) {
	t.Helper()
	b := &balancer{servers: servers}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() { b.serve(t.Context(), client) })
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		served.Wait()
	})
}

type balancer struct {
	servers []Dial
	next    atomic.Int64
}

// serve copies both ways until either side ends or the test does.
func (b *balancer) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	server := b.dial(ctx)
	if server == nil {
		return
	}
	defer server.Close()
	end := context.AfterFunc(ctx, func() { _, _ = client.Close(), server.Close() })
	defer end()
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{client: server, server: client} {
		both.Go(func() {
			_, _ = io.Copy(to, from)
			_, _ = client.Close(), server.Close()
		})
	}
	both.Wait()
}

// dial reaches the next server that lives.
func (b *balancer) dial(ctx context.Context) net.Conn {
	first := int(b.next.Add(1))
	for i := range b.servers {
		if server, err := b.servers[(first+i)%len(b.servers)](ctx); err == nil {
			return server
		}
	}
	return nil
}
