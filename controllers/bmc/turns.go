package bmc

import (
	"context"
	"sync"
)

// probesAtOnce is how many hosts of one BMC are probed at a time. All at once, as when a
// chassis with many machines is registered, they would take its time from each other until
// none of them is done in time.
const probesAtOnce = 2

// turns are those of hosts at their BMCs, by address.
type turns struct {
	mu sync.Mutex
	by map[string]*turn
}

// turn is that at one BMC.
type turn struct {
	slots chan struct{}
	users int // who wait or have it
}

// take waits for a host's turn. The returned function ends it.
func (t *turns) take(ctx context.Context, bmc string) (end func(), err error) {
	t.mu.Lock()
	if t.by == nil {
		t.by = map[string]*turn{}
	}
	one := t.by[bmc]
	if one == nil {
		one = &turn{slots: make(chan struct{}, probesAtOnce)}
		t.by[bmc] = one
	}
	one.users++
	t.mu.Unlock()
	select {
	case one.slots <- struct{}{}:
		return func() { <-one.slots; t.leave(bmc, one) }, nil
	case <-ctx.Done():
		t.leave(bmc, one)
		return nil, context.Cause(ctx)
	}
}

func (t *turns) leave(bmc string, one *turn) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(t.by, bmc)
	}
}
