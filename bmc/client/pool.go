package client

import "context"

// Pool keeps one client per BMC.
type Pool struct{}

// NewPool makes an empty pool whose clients have the options.
func NewPool(options Options) *Pool { return &Pool{} }

// Client is the client of a key. It stays the same while the target does; another
// target replaces it, and its session is ended in the background.
func (p *Pool) Client(key string, target Target) (*Client, error) { return nil, errLater }

// Drop forgets a client and ends its session in the background. What it knew of
// refused credentials is forgotten too.
func (p *Pool) Drop(key string) {}

// Close drops all clients and waits until their sessions are ended.
func (p *Pool) Close(ctx context.Context) error { return nil }
