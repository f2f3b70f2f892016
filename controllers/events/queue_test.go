package events

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
)

var resource = schema.GroupResource{Group: "events.k8s.io", Resource: "events"}

// api is an API server that takes its time.
type api struct {
	mu      sync.Mutex
	stored  map[string]*eventsv1.Event
	order   []string
	patches int
	now     int
	most    int // requests at a time
	takes   time.Duration
	fails   func(name string) error
}

func (a *api) request(name string, do func() error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now++
	a.most = max(a.most, a.now)
	a.mu.Unlock()
	time.Sleep(a.takes)
	a.mu.Lock()
	a.now--
	if a.fails != nil {
		if err := a.fails(name); err != nil {
			return err
		}
	}
	return do()
}

func (a *api) Create(_ context.Context, e *eventsv1.Event) (*eventsv1.Event, error) {
	return e, a.request(e.Name, func() error {
		if a.stored[e.Name] != nil {
			return apierrors.NewAlreadyExists(resource, e.Name)
		}
		a.stored[e.Name] = e
		a.order = append(a.order, e.Name)
		return nil
	})
}

func (a *api) Update(context.Context, *eventsv1.Event) (*eventsv1.Event, error) {
	return nil, errors.New("nobody updates events")
}

func (a *api) Patch(_ context.Context, e *eventsv1.Event, _ []byte) (*eventsv1.Event, error) {
	return e, a.request(e.Name, func() error {
		if a.stored[e.Name] == nil {
			return apierrors.NewNotFound(resource, e.Name)
		}
		a.patches++
		a.stored[e.Name] = e
		return nil
	})
}

func value(g *WithT, c prometheus.Counter) float64 {
	var m dto.Metric
	g.Expect(c.Write(&m)).To(Succeed())
	return m.Counter.GetValue()
}

func event(name string) *eventsv1.Event {
	return &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Namespace: "metal", Name: name}}
}

// within runs f beside a queue in front of a; the queue has ended when it returns.
func within(t *testing.T, a *api, f func(t *testing.T, g *WithT, q *Queue)) {
	t.Helper()
	a.stored = map[string]*eventsv1.Event{}
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(a, logr.Discard(), prometheus.NewRegistry())
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- q.Start(ctx) }()
		f(t, NewWithT(t), q)
		cancel()
		NewWithT(t).Expect(<-done).To(Succeed())
	})
}

func TestFewRequestsAtATimeAndAllAreWritten(t *testing.T) {
	a := &api{takes: 100 * time.Millisecond}
	within(t, a, func(t *testing.T, g *WithT, q *Queue) {
		start := time.Now()
		for i := range 100 {
			_, err := q.Create(t.Context(), event(fmt.Sprint(i)))
			g.Expect(err).NotTo(HaveOccurred())
		}
		g.Expect(time.Since(start)).To(BeZero(), "who tells an event does not wait")
		time.Sleep(time.Hour)
		g.Expect(a.stored).To(HaveLen(100))
		g.Expect(a.most).To(Equal(writers))
	})
}

func TestAnOutageLosesNothing(t *testing.T) {
	down := true
	a := &api{}
	a.fails = func(string) error {
		if down {
			return errors.New("connection refused")
		}
		return nil
	}
	within(t, a, func(t *testing.T, g *WithT, q *Queue) {
		for i := range 10 {
			_, _ = q.Create(t.Context(), event(fmt.Sprint(i)))
		}
		time.Sleep(time.Hour)
		a.mu.Lock()
		down = false
		a.mu.Unlock()
		time.Sleep(lastRetry)
		g.Expect(a.stored).To(HaveLen(10))
	})
}

func TestARefusedEventHoldsNobodyUp(t *testing.T) {
	a := &api{fails: func(name string) error {
		if name == "bad" {
			return apierrors.NewForbidden(resource, name, errors.New("the namespace is being terminated"))
		}
		return nil
	}}
	within(t, a, func(t *testing.T, g *WithT, q *Queue) {
		_, _ = q.Create(t.Context(), event("bad"))
		_, _ = q.Create(t.Context(), event("good"))
		time.Sleep(time.Millisecond)
		g.Expect(a.order).To(Equal([]string{"good"}))
		g.Expect(value(g, q.dropped)).To(BeEquivalentTo(1))
	})
}

func TestTheQueueIsBounded(t *testing.T) {
	g := NewWithT(t)
	q := NewQueue(&api{}, logr.Discard(), nil)
	for i := range waiting + 5 {
		_, _ = q.Create(t.Context(), event(fmt.Sprint(i)))
	}
	g.Expect(q.length()).To(Equal(waiting))
	g.Expect(value(g, q.dropped)).To(BeEquivalentTo(5))
}

func TestSeries(t *testing.T) {
	a := &api{}
	within(t, a, func(t *testing.T, g *WithT, q *Queue) {
		_, _ = q.Patch(t.Context(), event("expired"), []byte("{}"))
		time.Sleep(time.Millisecond)
		g.Expect(a.order).To(Equal([]string{"expired"}), "what is gone is written anew")
		_, _ = q.Patch(t.Context(), event("expired"), []byte("{}"))
		_, _ = q.Create(t.Context(), event("expired"))
		time.Sleep(time.Millisecond)
		g.Expect(a.patches).To(Equal(1))
		g.Expect(a.order).To(HaveLen(1))
	})
}

func TestTheLastEventsAreWritten(t *testing.T) {
	a := &api{takes: 100 * time.Millisecond}
	within(t, a, func(t *testing.T, _ *WithT, q *Queue) {
		for i := range 20 {
			_, _ = q.Create(t.Context(), event(fmt.Sprint(i)))
		}
	})
	NewWithT(t).Expect(a.stored).To(HaveLen(20))
}

// TestRecorder records as a controller does, through client-go's broadcaster.
func TestRecorder(t *testing.T) {
	a := &api{}
	within(t, a, func(t *testing.T, g *WithT, q *Queue) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		b := events.NewBroadcaster(q)
		g.Expect(b.StartRecordingToSinkWithContext(ctx)).To(Succeed())
		defer b.Shutdown()
		r := b.NewRecorder(clientgoscheme.Scheme, "metal3.io/ironflow")
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "metal", Name: "bmc"}}
		for range 3 {
			r.Eventf(secret, nil, corev1.EventTypeNormal, "Read", "Read", "%s", "It was read.")
			time.Sleep(time.Second)
		}
		g.Expect(a.order).To(HaveLen(1))
		kept := a.stored[a.order[0]]
		g.Expect(kept.Note).To(Equal("It was read."))
		g.Expect(kept.Series.Count).To(BeEquivalentTo(2), "a series is written when it begins, and then now and again")
	})
}
