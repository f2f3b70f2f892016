package events

import (
	"context"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/events"
)

const (
	// writers is how many requests write events at a time.
	writers = 4
	// waiting is how many events wait at most; beyond, new ones are dropped.
	waiting = 20000
	// firstRetry and lastRetry are the pauses before an event is tried again while
	// the API server cannot be reached.
	firstRetry, lastRetry = time.Second, 10 * time.Second
	// answerTimeout bounds one request.
	answerTimeout = 20 * time.Second
	// lastWords is how long the queue may take to empty when the program ends.
	lastWords = 5 * time.Second
)

// Queue is an events.EventSink that answers at once and writes later.
type Queue struct {
	sink    events.EventSink
	log     logr.Logger
	dropped prometheus.Counter

	mu sync.Mutex
	// list is what waits, first come, first served; more has room for one word that
	// there is something new.
	list []write
	more chan struct{}
}

// write is one request.
type write struct {
	event *eventsv1.Event
	// patch, unless nil, is the change of an event that is there already.
	patch []byte
}

// NewQueue returns a queue in front of sink. Its metrics go to registerer, unless
// that is nil.
func NewQueue(sink events.EventSink, log logr.Logger, registerer prometheus.Registerer) *Queue {
	q := &Queue{sink: sink, log: log, more: make(chan struct{}, 1), dropped: prometheus.NewCounter(prometheus.CounterOpts{
		Name: "ironflow_events_dropped_total", Help: "Events that were not written: too many were waiting, or the API server refused them.",
	})}
	if registerer != nil {
		registerer.MustRegister(q.dropped, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "ironflow_events_waiting", Help: "Events that wait for being written.",
		}, func() float64 { return float64(q.length()) }))
	}
	return q
}

// Create implements events.EventSink.
func (q *Queue) Create(_ context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	q.put(write{event: event.DeepCopy()})
	return event, nil
}

// Update implements events.EventSink. client-go does not call it.
func (q *Queue) Update(ctx context.Context, event *eventsv1.Event) (*eventsv1.Event, error) {
	return q.sink.Update(ctx, event)
}

// Patch implements events.EventSink.
func (q *Queue) Patch(_ context.Context, event *eventsv1.Event, patch []byte) (*eventsv1.Event, error) {
	q.put(write{event: event.DeepCopy(), patch: patch})
	return event, nil
}

func (q *Queue) put(w write) {
	q.mu.Lock()
	full := len(q.list) >= waiting
	if !full {
		q.list = append(q.list, w)
	}
	q.mu.Unlock()
	if full {
		q.dropped.Inc()
		return
	}
	q.tell()
}

// tell wakes a writer.
func (q *Queue) tell() {
	select {
	case q.more <- struct{}{}:
	default: // the word is out
	}
}

func (q *Queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list)
}

// take returns what waits longest, and wakes the next writer when more is left.
func (q *Queue) take() (w write, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		q.list = nil // the room that a busy hour took
		return write{}, false
	}
	w, q.list[0] = q.list[0], write{}
	q.list = q.list[1:]
	if len(q.list) > 0 {
		q.tell()
	}
	return w, true
}

// Start writes what comes until ctx ends, and what is left in a few seconds more.
// It implements manager.Runnable.
func (q *Queue) Start(ctx context.Context) error {
	var group sync.WaitGroup
	for range writers {
		group.Go(func() {
			for ctx.Err() == nil {
				select {
				case <-q.more:
					q.empty(ctx)
				case <-ctx.Done():
				}
			}
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer cancel()
			q.empty(last)
		})
	}
	group.Wait()
	if left := q.length(); left > 0 {
		q.log.Info("the API server took too long for the last events", "lost", left)
	}
	return nil
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: replicas that do
// not lead have events to tell too.
func (q *Queue) NeedLeaderElection() bool { return false }

// empty writes until nothing waits or ctx ends.
func (q *Queue) empty(ctx context.Context) {
	for ctx.Err() == nil {
		w, ok := q.take()
		if !ok {
			return
		}
		q.write(ctx, w)
	}
}

// write makes the request, again and again while the API server does not answer.
func (q *Queue) write(ctx context.Context, w write) {
	for pause := firstRetry; ; pause = min(2*pause, lastRetry) {
		err := q.try(ctx, w)
		switch {
		case err == nil:
			return
		case refused(err):
			q.dropped.Inc()
			q.log.Info("the API server refused an event", "reason", w.event.Reason, "regarding", w.event.Regarding.Namespace+"/"+w.event.Regarding.Name, "error", err.Error())
			return
		}
		select {
		case <-ctx.Done():
			q.putBack(w)
			return
		case <-time.After(pause):
		}
	}
}

// putBack lets an event that could not be written be the next one again.
func (q *Queue) putBack(w write) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.list = append([]write{w}, q.list...)
}

// try makes the request once, and lets it end when ctx does. An event whose
// beginning has expired is written anew.
func (q *Queue) try(ctx context.Context, w write) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTimeout)
	defer cancel()
	if w.patch != nil {
		if _, err := q.sink.Patch(ctx, w.event, w.patch); !apierrors.IsNotFound(err) {
			return err
		}
	}
	_, err := q.sink.Create(ctx, w.event)
	if apierrors.IsAlreadyExists(err) {
		return nil // its answer was lost, or its series came first
	}
	return err
}

// refused tells whether the same request would fail again: the object's namespace
// is gone, or the event is not valid.
func refused(err error) bool {
	if apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err) || apierrors.IsInternalError(err) {
		return false
	}
	status := apierrors.ReasonForError(err)
	return status != "" && status != "Unknown"
}
