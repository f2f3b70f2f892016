//go:build e2e

package e2e

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/gomega"
)

// balance returns the address of a balancer in front of hubs. It hands connections
// to them in turn, passes over one that takes none, and knows nothing of what is said.
func balance(t *testing.T, urls ...string) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	b := &balancer{hubs: urls}
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
	return "https://" + listener.Addr().String()
}

type balancer struct {
	hubs []string
	next atomic.Int64
}

// serve copies both ways until either side ends or the test does.
func (b *balancer) serve(ctx context.Context, client net.Conn) {
	defer client.Close()
	hub := b.dial(ctx)
	if hub == nil {
		return
	}
	defer hub.Close()
	end := context.AfterFunc(ctx, func() { _, _ = client.Close(), hub.Close() })
	defer end()
	var both sync.WaitGroup
	for from, to := range map[net.Conn]net.Conn{client: hub, hub: client} {
		both.Go(func() {
			_, _ = io.Copy(to, from)
			_, _ = client.Close(), hub.Close()
		})
	}
	both.Wait()
}

// dial reaches the next hub that lives.
func (b *balancer) dial(ctx context.Context) net.Conn {
	first := int(b.next.Add(1))
	for i := range b.hubs {
		hub, err := (&net.Dialer{}).DialContext(ctx, "tcp", strings.TrimPrefix(b.hubs[(first+i)%len(b.hubs)], "https://"))
		if err == nil {
			return hub
		}
	}
	return nil
}
