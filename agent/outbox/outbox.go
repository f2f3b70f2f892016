// Package outbox posts the replies of steps to the hub. Per step type only the
// newest reply waits; a failed post is tried again with growing delays, a bounded
// number of times; a result that the hub has already taken is not sent again for
// an hour, because hubs read silence as "unchanged". What waits is kept in a file,
// so that a restarted agent still says it.
package outbox

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// CacheFor is how long an accepted, unchanged result is not sent again.
const CacheFor = time.Hour

// maxPending bounds what waits: the protocol has fewer types, a hostile hub may
// make up more.
const maxPending = 32

// maxAttempts ends the retries of one reply after about ten minutes.
const maxAttempts = 14

var retry = backoff.Policy{First: time.Second, Factor: 2, Max: time.Minute, Jitter: 0.3}

// volatile results differ at each measurement: only the first of them changes
// what the hub thinks of the host.
var volatile = map[wire.StepType]bool{
	wire.StepTypeConnectivityCheck: true, wire.StepTypeNTPSynchronizer: true,
	wire.StepTypeFreeNetworkAddresses: true, wire.StepTypeLogsGather: true,
}

// Post sends one reply.
type Post func(ctx context.Context, reply wire.StepReply) error

// Outbox holds the replies. Make it with [New]; it is safe for concurrent use.
type Outbox struct {
	post    Post
	changed func()
	log     *slog.Logger

	mu       sync.Mutex
	file     *file // nil until [Outbox.Restore]
	pending  map[wire.StepType]*letter
	accepted map[wire.StepType]accepted
	wake     chan struct{}
	idle     chan struct{} // closed while nothing is pending
}

type letter struct {
	reply    wire.StepReply
	attempts int
	due      time.Time
}

type accepted struct {
	doubted bool // the hub may have lost it
	exit    int64
	output  string
	at      time.Time
}

// New returns an outbox. changed is called after the hub has taken a reply that
// may change the state of the host; it must not block.
func New(post Post, changed func(), log *slog.Logger) *Outbox {
	o := &Outbox{
		post: post, changed: changed, log: log,
		pending: map[wire.StepType]*letter{}, accepted: map[wire.StepType]accepted{},
		wake: make(chan struct{}, 1), idle: make(chan struct{}),
	}
	close(o.idle)
	return o
}

// Put takes a reply to be sent. An older one of the same type that still waits
// is dropped.
func (o *Outbox) Put(reply wire.StepReply) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.put(reply)
}

// put is Put for a caller that holds the lock.
func (o *Outbox) put(reply wire.StepReply) {
	known, ok := o.accepted[reply.StepType]
	_, waits := o.pending[reply.StepType]
	if ok && !waits && !known.doubted && reply.ExitCode == 0 && known.exit == 0 && known.output == reply.Output && time.Since(known.at) < CacheFor {
		return
	}
	if len(o.pending) == 0 {
		o.idle = make(chan struct{})
	}
	if !waits && len(o.pending) >= maxPending {
		o.log.Error("too many replies wait; one is dropped", "step", reply.StepType)
		return
	}
	o.pending[reply.StepType] = &letter{reply: reply}
	o.keep()
	o.nudge()
}

// Doubt makes everything be said again, after a failed poll or a change of hub.
// A reply that is only repeated wakes no poll: agents of an overloaded hub must
// not come back sooner for it.
func (o *Outbox) Doubt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for kind, known := range o.accepted {
		known.doubted = true
		o.accepted[kind] = known
	}
}

// Forget empties the cache of accepted results: after a registration everything
// is said again, and is news.
func (o *Outbox) Forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.accepted)
}

// Drain waits until nothing is pending, or the context ends.
func (o *Outbox) Drain(ctx context.Context) {
	o.mu.Lock()
	idle := o.idle
	o.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}

// Run sends replies until the context ends.
func (o *Outbox) Run(ctx context.Context) {
	for {
		next := o.next()
		if next == nil {
			select {
			case <-ctx.Done():
				return
			case <-o.wake:
			}
			continue
		}
		timer := time.NewTimer(time.Until(next.due))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-o.wake:
			timer.Stop()
		case <-timer.C:
			o.send(ctx, next)
		}
	}
}

// next is the letter that is due first.
func (o *Outbox) next() *letter {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.pending) == 0 {
		return nil
	}
	return slices.MinFunc(slices.Collect(maps.Values(o.pending)), func(a, b *letter) int { return a.due.Compare(b.due) })
}

func (o *Outbox) send(ctx context.Context, l *letter) {
	err := o.post(ctx, l.reply)
	if err != nil && ctx.Err() != nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	kind := l.reply.StepType
	if err == nil {
		o.remove(kind, l)
		before, known := o.accepted[kind]
		now := accepted{exit: l.reply.ExitCode, output: l.reply.Output, at: time.Now()}
		if !known && len(o.accepted) >= maxPending {
			clear(o.accepted)
		}
		o.accepted[kind] = now
		if !known || before.exit != now.exit || (before.output != now.output && !volatile[kind]) {
			o.changed()
		}
		return
	}
	l.attempts++
	code := hubclient.Code(err)
	if final := code == http.StatusBadRequest || code == http.StatusNotFound; final || l.attempts >= maxAttempts {
		o.log.Error("the hub did not take a step's reply; it is dropped", "step", kind, "attempts", l.attempts, "error", err)
		o.remove(kind, l)
		return
	}
	delay := hubclient.Delay(err, retry.Random(l.attempts))
	l.due = time.Now().Add(delay)
	o.log.Warn("posting a step's reply failed", "step", kind, "retryIn", delay.Round(time.Millisecond), "error", err)
}

// remove drops the letter unless a newer one has taken its place.
func (o *Outbox) remove(kind wire.StepType, l *letter) {
	if o.pending[kind] == l {
		delete(o.pending, kind)
		o.keep()
	}
	if len(o.pending) == 0 {
		close(o.idle)
	}
}

func (o *Outbox) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}
