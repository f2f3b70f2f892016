package events

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/events/meaning"
	"github.com/ironflow/ironflow/test/bmc/simulator"
)

// scene is a receiver and a simulated BMC that reaches it.
type scene struct {
	*WithT

	t        *testing.T
	got      *sink
	receiver *Receiver
	arrived  chan time.Time
	sim      *simulator.Server
	c        *client.Client
	report   *v1alpha1.BMCReport
	wanted   *Wanted
}

func newScene(t *testing.T, quirks ...simulator.Quirk) *scene {
	t.Helper()
	s := &scene{WithT: NewWithT(t), t: t, got: &sink{more: make(chan struct{}, 1)}, report: &v1alpha1.BMCReport{System: "/redfish/v1/Systems/1"}}
	s.arrived = make(chan time.Time, 1)
	s.receiver = NewReceiver(Options{Keys: testKeys(t), Sink: s.got, Heard: func(_ string, at time.Time) {
		select {
		case s.arrived <- at:
		default:
		}
	}})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.receiver.Run(ctx) }()
	listener := httptest.NewTLSServer(s.receiver)
	s.sim = simulator.New(simulator.Options{Username: "admin", Password: "password", Events: listener.Client().Transport, EventRetryInterval: time.Millisecond})
	t.Cleanup(func() {
		s.sim.Close()
		listener.Close()
		cancel()
		s.Expect(<-done).To(Succeed())
	})
	s.Expect(s.sim.AddSystem(simulator.System{ID: "1"})).To(Succeed())
	for _, quirk := range quirks {
		s.Expect(s.sim.SetQuirk("1", quirk, simulator.Always)).To(Succeed())
	}
	s.c = connect(t, s.sim)
	s.receiver.Register("host-1", 0)
	s.wanted = &Wanted{Key: testKeys(t).Of("host-1", 0)}
	destination, err := s.wanted.Key.Destination(listener.URL)
	s.Expect(err).NotTo(HaveOccurred())
	s.wanted.Destination = destination
	return s
}

func (s *scene) keep() State {
	s.t.Helper()
	state, err := Keep(s.t.Context(), s.c, s.report, s.wanted)
	s.Expect(err).NotTo(HaveOccurred())
	s.wanted.Known = state.Path
	return state
}

// fail makes a fan fail, which is an alert.
func (s *scene) fail() {
	s.t.Helper()
	s.Expect(s.sim.SetPart("1", simulator.Part{Kind: simulator.PartFan, ID: "Fan1"}, simulator.Condition{Health: "Critical"})).To(Succeed())
}

// reset restarts the BMC.
func (s *scene) reset() {
	s.t.Helper()
	_, err := s.c.Post(s.t.Context(), "/redfish/v1/Managers/1/Actions/Manager.Reset", object{"ResetType": "ForceRestart"})
	s.Expect(err).NotTo(HaveOccurred())
	s.c = connect(s.t, s.sim)
}

// TestPushed: from the subscription to the sink, with each habit that a BMC has in
// what it takes and in what it sends.
func TestPushed(t *testing.T) {
	for _, quirk := range []simulator.Quirk{
		"", simulator.EventTypesRefused, simulator.AlertsOnly, simulator.NoTestEvent, simulator.SubscriptionBounds, simulator.SubscriptionNoAddress, simulator.RetryPolicyRefused,
		simulator.HeadersEmptyList, simulator.EventAlertsKey, simulator.EventOriginText, simulator.EventIDNumber, simulator.EventBare, simulator.OddTimes, simulator.SeverityNormal,
	} {
		t.Run("with "+string(quirk), func(t *testing.T) {
			quirks := []simulator.Quirk{quirk}
			if quirk == "" {
				quirks = nil
			}
			s := newScene(t, quirks...)
			s.Expect(s.keep().Did).To(Equal(Made))
			_, err := Prove(t.Context(), s.c, s.report, s.arrived, time.Now)
			if quirk == simulator.NoTestEvent {
				s.Expect(err).To(MatchError(ErrNoTest))
			} else {
				s.Expect(err).NotTo(HaveOccurred())
			}
			s.fail()
			s.got.await(1)
			alert := s.got.Alerts()[0]
			s.Expect(alert.Severity).To(Equal(meaning.Critical))
			s.Expect(alert.Message).To(ContainSubstring("Fan1"))
			s.Expect(alert.Time).To(BeTemporally("~", time.Now(), 10*time.Minute))
			s.Expect(s.got.Wakes()).To(ContainElement(Wake{Host: "host-1", Kind: meaning.Health, System: "/redfish/v1/Systems/1"}))
			s.Expect(s.keep().Did).To(Equal(Kept))
			s.Expect(Remove(t.Context(), s.c, s.wanted)).To(Equal(1))
			s.Expect(s.sim.Subscriptions()).To(BeEmpty())
		})
	}
}

// TestReset: a subscription that a BMC's reset has lost is made again, one that has
// another path since is found, and there is never more than one.
func TestReset(t *testing.T) {
	for quirk, did := range map[simulator.Quirk]Did{simulator.SubscriptionsLost: Made, simulator.SubscriptionsRenamed: Adopted} {
		t.Run(string(quirk), func(t *testing.T) {
			s := newScene(t, quirk)
			s.Expect(s.keep().Did).To(Equal(Made))
			s.reset()
			s.Expect(s.keep().Did).To(Equal(did))
			s.Expect(s.sim.Subscriptions()).To(HaveLen(1))
			s.fail()
			s.got.await(1)
		})
	}
}

// TestNotPushed: BMCs that take no subscription, and what is said of them.
func TestNotPushed(t *testing.T) {
	for quirk, want := range map[simulator.Quirk]string{
		simulator.NoEventService: "no EventService", simulator.EventsDisabled: "ServiceEnabled", simulator.SubscriptionsFull: "takes no more event subscriptions",
	} {
		t.Run(string(quirk), func(t *testing.T) {
			s := newScene(t, quirk)
			state := s.keep()
			s.Expect(state.Did).To(Equal(Nothing))
			s.Expect(state.Problem).To(ContainSubstring(want))
		})
	}
}

// TestStream: the same alerts come over the stream, also when it is cut after each.
func TestStream(t *testing.T) {
	for _, quirk := range []simulator.Quirk{"", simulator.StreamCut, simulator.EventBare} {
		t.Run("with "+string(quirk), func(t *testing.T) {
			s := newScene(t)
			if quirk != "" {
				s.Expect(s.sim.SetQuirk("1", quirk, 1)).To(Succeed())
			}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			followed := &looks{sink: s.got, opened: make(chan struct{}, 8)}
			go func() { done <- Follow(ctx, s.c, "host-1", followed) }()
			<-followed.opened
			s.fail()
			s.got.await(1)
			if quirk == simulator.StreamCut {
				<-followed.opened
			}
			s.fail()
			s.got.await(2)
			s.Expect(s.got.Alerts()[1].Host).To(Equal("host-1"))
			cancel()
			s.Expect(<-done).To(Succeed())
		})
	}
	s := newScene(t, simulator.NoSSE)
	s.Expect(Follow(t.Context(), s.c, "host-1", s.got)).To(MatchError(ErrNoStream))
}

// looks tells when a stream was opened.
type looks struct {
	*sink

	opened chan struct{}
}

func (l *looks) Wake(w Wake) {
	l.sink.Wake(w)
	if w.Kind == meaning.Look {
		l.opened <- struct{}{}
	}
}
