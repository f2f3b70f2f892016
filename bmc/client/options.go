package client

import (
	"context"
	"log/slog"
	"net"
	"time"
)

// Options are the limits that a client keeps towards its BMC. Zero values stand for
// the defaults.
type Options struct {
	// Rate is how many requests a second are made, 2 when zero; Burst how many at
	// once after a rest, 5 when zero.
	Rate  float64
	Burst int
	// Concurrency is how many requests are under way at a time, 1 when zero.
	Concurrency int
	// Timeout bounds each request with its answer, 30 s when zero. Waiting for its
	// turn does not count.
	Timeout time.Duration
	// MaxBody bounds an answer, 4 MiB when zero.
	MaxBody int64
	// MaxDepth bounds how deep its JSON is nested, 64 when zero.
	MaxDepth int
	// MaxPages bounds the pages of a collection, 100 when zero.
	MaxPages int
	// Dial opens connections; nil is a plain dialer.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// Now is the clock; nil is the system's.
	Now func() time.Time
	// Asked hears of each request that was made, by the kind of its error; empty for one
	// that succeeded. It must not block.
	Asked func(kind Kind)
	// Log hears of logins and of a BMC that falls silent; nil is silent.
	Log *slog.Logger
}

const (
	defaultRate        = 2
	defaultBurst       = 5
	defaultConcurrency = 1
	defaultTimeout     = 30 * time.Second
	defaultMaxBody     = 4 << 20
	defaultMaxDepth    = 64
	defaultMaxPages    = 100
)

func (o *Options) complete() {
	if o.Rate <= 0 {
		o.Rate = defaultRate
	}
	o.Burst = orDefault(o.Burst, defaultBurst)
	o.Concurrency = orDefault(o.Concurrency, defaultConcurrency)
	o.Timeout = orDefault(o.Timeout, defaultTimeout)
	o.MaxBody = orDefault(o.MaxBody, defaultMaxBody)
	o.MaxDepth = orDefault(o.MaxDepth, defaultMaxDepth)
	o.MaxPages = orDefault(o.MaxPages, defaultMaxPages)
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Asked == nil {
		o.Asked = func(Kind) {}
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
}

func orDefault[T int | int64 | time.Duration](value, standard T) T {
	if value <= 0 {
		return standard
	}
	return value
}
