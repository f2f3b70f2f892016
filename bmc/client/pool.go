package client

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Pool keeps one client per key, which is a host as a rule. Hosts of one BMC that have the
// same user share its session. Its methods may be called by many at once.
type Pool struct {
	options Options

	mu      sync.Mutex
	clients map[string]*Client
	bmcs    map[place]*pooled
	closing sync.WaitGroup
}

// pooled is one BMC.
type pooled struct {
	shared *shared
	// channels are those that a further client may use, and users all that use one.
	channels []*channel
	users    int
}

// NewPool makes an empty pool whose clients have the options.
func NewPool(options Options) *Pool {
	options.complete()
	return &Pool{options: options, clients: map[string]*Client{}, bmcs: map[place]*pooled{}}
}

// Client is the client of a key. It stays the same while the target does; another
// target replaces it, and its session is ended in the background, unless it is another
// key's too.
func (p *Pool) Client(key string, target Target) (*Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.clients[key]
	if old != nil && old.serves(target) {
		return old, nil
	}
	c, err := p.enter(target)
	if err != nil {
		return nil, err
	}
	p.clients[key] = c
	if old != nil {
		p.retire(key, old)
	}
	return c, nil
}

// enter makes a client, of a channel that is there if it can; the lock is held.
func (p *Pool) enter(target Target) (*Client, error) {
	at, err := parsePlace(target.URL)
	if err != nil {
		return nil, err
	}
	b := p.bmcs[at]
	if b == nil {
		b = &pooled{shared: newShared(p.options)}
	}
	ch := b.of(target)
	if ch == nil {
		if ch, err = newChannel(target, at, p.options, b.shared); err != nil {
			return nil, err
		}
		b.channels = append(b.channels, ch)
	}
	p.bmcs[at] = b
	b.users++
	c := ch.client(target.System)
	c.leave = func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.left(c)
	}
	return c, nil
}

// of is the channel of a target's user; nil for none.
func (b *pooled) of(target Target) *channel {
	target.System = ""
	for _, ch := range b.channels {
		if ch.target.equal(target) {
			return ch
		}
	}
	return nil
}

// left notes that a client is of no use any more, and says whether it was the last one of its
// channel; the lock is held.
func (p *Pool) left(c *Client) (last bool) {
	if c.gone {
		return false
	}
	c.gone = true
	b := p.bmcs[c.at]
	if b.users--; b.users == 0 {
		delete(p.bmcs, c.at)
	}
	if c.users--; c.users > 0 {
		return false
	}
	b.forget(c.channel)
	return true
}

// forget keeps further clients off a channel.
func (b *pooled) forget(ch *channel) {
	b.channels = slices.DeleteFunc(b.channels, func(one *channel) bool { return one == ch })
}

// Drop forgets a client and ends its session in the background, unless it is another key's
// too. What it knew of refused credentials is forgotten: the next client of that user begins
// anew.
func (p *Pool) Drop(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.clients[key]
	if old == nil {
		return
	}
	delete(p.clients, key)
	if old.auth.troubled() {
		p.bmcs[old.at].forget(old.channel)
	}
	p.retire(key, old)
}

// Close drops all clients and waits until their sessions are ended.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	for key, c := range p.clients {
		delete(p.clients, key)
		p.retire(key, c)
	}
	p.mu.Unlock()
	done := make(chan struct{})
	go func() {
		p.closing.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retireTime bounds how long an old session is tried to be ended.
const retireTime = time.Minute

// retire ends a client; the lock is held.
func (p *Pool) retire(key string, c *Client) {
	c.end()
	if !p.left(c) {
		return
	}
	p.closing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), retireTime)
		defer cancel()
		if err := c.close(ctx); err != nil {
			p.options.Log.Info("session of a BMC could not be ended; it will time out", "key", key, "err", err)
		}
	})
}
