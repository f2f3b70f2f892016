package client

import (
	"context"
	"sync"
	"time"
)

// Pool keeps one client per BMC. Its methods may be called by many at once.
type Pool struct {
	options Options

	mu      sync.Mutex
	clients map[string]*Client
	closing sync.WaitGroup
}

// NewPool makes an empty pool whose clients have the options.
func NewPool(options Options) *Pool {
	options.complete()
	return &Pool{options: options, clients: map[string]*Client{}}
}

// Client is the client of a key. It stays the same while the target does; another
// target replaces it, and its session is ended in the background.
func (p *Pool) Client(key string, target Target) (*Client, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := p.clients[key]
	if old != nil && old.target.equal(target) {
		return old, nil
	}
	c, err := New(target, p.options)
	if err != nil {
		return nil, err
	}
	p.clients[key] = c
	if old != nil {
		p.retire(key, old)
	}
	return c, nil
}

// Drop forgets a client and ends its session in the background. What it knew of
// refused credentials is forgotten too.
func (p *Pool) Drop(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if old := p.clients[key]; old != nil {
		delete(p.clients, key)
		p.retire(key, old)
	}
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

func (p *Pool) retire(key string, c *Client) {
	p.closing.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), retireTime)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			p.options.Log.Info("session of a BMC could not be ended; it will time out", "key", key, "err", err)
		}
	})
}
