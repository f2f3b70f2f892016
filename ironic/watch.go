package ironic

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
)

// WatchOptions are the timings of a Watch. The zero value of each means its default.
type WatchOptions struct {
	FeedBusy   time.Duration // between feed reads while hosts of ours are in flight: 1 s
	FeedIdle   time.Duration // the same when none is: 30 s
	InFlight   time.Duration // between reads of the busy states, at least ten times what the last one took: 3 s
	Sweep      time.Duration // between sweeps: 5 min
	NudgeGap   time.Duration // between two feed reads that nudges cause: 200 ms
	RetryAfter time.Duration // after a failed read, doubled up to FeedIdle: 1 s
	// HeartbeatTimeout is Ironic's own ramdisk_heartbeat_timeout, which its API does not
	// tell: a ramdisk beats every 0.3 to 0.6 of it. Zero means that it is not known, and
	// that the rhythm is learnt.
	HeartbeatTimeout time.Duration
	HeartbeatMargin  time.Duration // added before an agent counts as lost: 30 s
	FeedPage         int           // rows of a feed page: 50
	SweepPage        int           // rows of a sweep page: 1000
	Log              logr.Logger
}

func orDefault[T comparable](value *T, standard T) {
	var zero T
	if *value == zero {
		*value = standard
	}
}

func (o *WatchOptions) complete() {
	orDefault(&o.FeedBusy, time.Second)
	orDefault(&o.FeedIdle, 30*time.Second)
	orDefault(&o.InFlight, 3*time.Second)
	orDefault(&o.Sweep, 5*time.Minute)
	orDefault(&o.NudgeGap, 200*time.Millisecond)
	orDefault(&o.RetryAfter, time.Second)
	orDefault(&o.HeartbeatMargin, 30*time.Second)
	orDefault(&o.FeedPage, 50)
	orDefault(&o.SweepPage, 1000)
	if o.Log.GetSink() == nil {
		o.Log = logr.Discard()
	}
}

const (
	// shortestRhythm is the least pause between two heartbeats that is taken for the
	// ramdisk's rhythm, 0.3 of Ironic's default: what is shorter has an occasion, as a
	// rule, such as the end of a step.
	shortestRhythm = 90 * time.Second
	// rhythmFactor makes a limit of the longest pause that was seen: the next one may be
	// twice as long, and one heartbeat may be lost, since Ironic drops those that come
	// while the node is locked.
	rhythmFactor = 4
)

// lostAfter is the age of the last heartbeat from which an agent counts as lost, by
// the longest pause between two of them that was seen with this Ironic. Zero means
// that this is not known, so that none counts as lost.
func (o *WatchOptions) lostAfter(rhythm time.Duration) time.Duration {
	switch {
	case o.HeartbeatTimeout > 0:
		return o.HeartbeatTimeout*6/10 + o.HeartbeatMargin
	case rhythm < shortestRhythm:
		return 0
	}
	return rhythmFactor*rhythm + o.HeartbeatMargin
}

// ChangeKind says what happened to a node.
type ChangeKind int

// The kinds of change.
const (
	// Changed means that a field of the row differs.
	Changed ChangeKind = iota + 1
	// Appeared means that the watch sees the node for the first time, as all nodes
	// are at the start.
	Appeared
	// Vanished means that Ironic does not have the node any more.
	Vanished
	// LostAgent means that the ramdisk has not been heard of for too long in the
	// middle of a deployment: the machine was restarted behind Ironic's back. It is
	// said once for each silence.
	LostAgent
)

var changeNames = map[ChangeKind]string{Changed: "changed", Appeared: "appeared", Vanished: "vanished", LostAgent: "lost agent"}

// String returns the kind in lower case.
func (k ChangeKind) String() string { return changeNames[k] }

// Change is one node's news. News of a node that nobody took yet are merged:
// Row is the newest, Previous what was known when the first of them was found.
type Change struct {
	Kind     ChangeKind
	UUID     string
	Name     string
	Row      Row // the last known one for Vanished
	Previous Row // zero for Appeared
}

// Watch finds out which nodes of one Ironic changed. Three readers take turns in
// one loop: the feed (what changed last), the busy states that hold hosts of
// ours, and a sweep over everything. They compare rows, never clocks. A change is
// a reason to look at the node, not the whole truth about it: several may have
// become one.
type Watch struct {
	gateway *Gateway
	options WatchOptions

	mu    sync.Mutex // guards what follows
	table *table
	err   error

	queue   *queue
	changes chan Change
	wake    chan struct{} // capacity 1: the schedule may have changed
	nudged  chan struct{} // capacity 1
	synced  chan struct{}
}

// NewWatch prepares a watch of the gateway's Ironic; Run starts it.
func NewWatch(g *Gateway, o WatchOptions) *Watch {
	o.complete()
	return &Watch{
		gateway: g, options: o, table: newTable(), queue: newQueue(),
		changes: make(chan Change), wake: make(chan struct{}, 1), nudged: make(chan struct{}, 1), synced: make(chan struct{}),
	}
}

// Changes delivers the news, in the order in which they were found. It has one
// consumer; it is never closed.
func (w *Watch) Changes() <-chan Change { return w.changes }

// Synced is closed when the first sweep has filled the table.
func (w *Watch) Synced() <-chan struct{} { return w.synced }

func (w *Watch) isSynced() bool {
	select {
	case <-w.synced:
		return true
	default:
		return false
	}
}

// Len returns how many nodes are known.
func (w *Watch) Len() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.table.rows)
}

// Row returns what is known of a node without asking Ironic.
func (w *Watch) Row(uuid string) (Row, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e, ok := w.table.rows[uuid]
	if !ok {
		return Row{}, false
	}
	return e.row, true
}

// Named returns what is known of the node with a name. With complete, a name that
// is not found is not taken in Ironic either, but for what happened since the last
// sweep: a node of that name would then refuse its namesake.
func (w *Watch) Named(name string) (row Row, found, complete bool) {
	complete = w.isSynced()
	w.mu.Lock()
	defer w.mu.Unlock()
	if e, known := w.table.rows[w.table.names[name]]; known && name != "" {
		return e.row, true, complete
	}
	return Row{}, false, complete && w.err == nil
}

// OfMachine returns the ids of the nodes that keep one of these keys of their machine,
// without asking Ironic.
func (w *Watch) OfMachine(keys ...string) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for _, key := range keys {
		ids = append(ids, w.table.machines[key]...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// Learn takes in what an answer to a request of ours says about a node, so that
// it is known without a look, and is no news later on.
func (w *Watch) Learn(r Row) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table.learn(r, time.Now())
}

// Forget takes a node out that we have deleted.
func (w *Watch) Forget(uuid string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.table.remove(uuid)
}

// Err is nil while Ironic answers, and the last failure while it does not.
func (w *Watch) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Expect says that a host of ours starts (true) or ends to be in flight. While
// any is, the feed is read every second and the busy states are watched. It ends by
// itself when the node is seen to rest, or is gone.
func (w *Watch) Expect(uuid string, inFlight bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.table.expected) > 0
	w.table.expect(uuid, inFlight)
	if before != (len(w.table.expected) > 0) {
		signal(w.wake)
	}
}

// Nudge asks to look at the feed now: right after a call of ours, or when
// somebody heard that something happened. Nudges in quick succession become one.
func (w *Watch) Nudge() { signal(w.nudged) }

// signal makes a channel of capacity 1 readable.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run watches until the context ends and returns its cause. It must be called
// once. Failures of Ironic do not end it: see Err.
func (w *Watch) Run(ctx context.Context) error {
	var delivery sync.WaitGroup
	defer delivery.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	delivery.Go(func() { w.queue.deliver(ctx, w.changes) })
	s := schedule{options: w.options}
	for {
		next, pause := s.next(time.Now(), w.inFlight())
		if pause > 0 {
			if err := w.pause(ctx, &s, pause); err != nil {
				return err
			}
			continue
		}
		started := time.Now()
		err := w.read(ctx, next, &s)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.settle(&s, next, started, err)
	}
}

// pause waits until the schedule has something to do, or may have.
func (w *Watch) pause(ctx context.Context, s *schedule, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
	case <-w.wake:
	case <-w.nudged:
		s.nudge()
	}
	return nil
}

// inFlight reports whether hosts of ours are.
func (w *Watch) inFlight() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.table.expected) > 0
}

// settle books the result of a read and says, once each, that Ironic went away
// or came back.
func (w *Watch) settle(s *schedule, r reader, started time.Time, err error) {
	now := time.Now()
	w.mu.Lock()
	before := w.err
	w.err = err
	switch {
	case err != nil:
		s.failed(now)
	case before != nil:
		s.recovered()
		w.table.forgive(now) // no heartbeat can arrive while Ironic is away
	}
	if err == nil {
		s.done(r, now, now.Sub(started))
	}
	nodes := len(w.table.rows)
	w.mu.Unlock()
	w.gateway.metrics.nodes.WithLabelValues(w.gateway.Name()).Set(float64(nodes))
	switch {
	case err != nil && before == nil:
		w.options.Log.Info("Ironic does not answer", "endpoint", w.gateway.Name(), "reader", r.String(), "error", err.Error())
	case err == nil && before != nil:
		w.options.Log.Info("Ironic answers again", "endpoint", w.gateway.Name())
	}
}
