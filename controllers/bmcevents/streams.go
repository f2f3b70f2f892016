package bmcevents

import (
	"context"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events"
)

// streams are those that are read, one at most of each host's BMC.
type streams struct {
	sink events.Sink

	mu      sync.Mutex
	ctx     context.Context //nolint:containedctx // of the manager: a stream outlives the pass that begins it
	running sync.WaitGroup
	by      map[types.NamespacedName]*stream
}

// stream is one that is read, or was given up: it is not begun again before somebody
// has ended it.
type stream struct {
	c    *client.Client
	stop context.CancelFunc
}

// Start implements manager.Runnable: before it there are no streams, and it ends with them.
func (s *streams) Start(ctx context.Context) error {
	s.mu.Lock()
	s.ctx = ctx
	s.mu.Unlock()
	<-ctx.Done()
	s.mu.Lock()
	s.ctx = nil
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// begin reads a BMC's stream, unless it does so with this client already.
func (s *streams) begin(key types.NamespacedName, host string, c *client.Client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.by[key]; old != nil {
		if old.c == c {
			return
		}
		old.stop()
		delete(s.by, key)
	}
	if s.ctx == nil {
		return
	}
	ctx, stop := context.WithCancel(s.ctx)
	s.by[key] = &stream{c: c, stop: stop}
	s.running.Go(func() {
		defer stop()
		_ = events.Follow(ctx, c, host, s.sink) // a BMC whose stream breaks is asked instead
	})
}

// end ends to read it.
func (s *streams) end(key types.NamespacedName) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.by[key]; old != nil {
		old.stop()
		delete(s.by, key)
	}
}
