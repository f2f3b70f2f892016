package outbox_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/agent/outbox"
	"github.com/ironflow/ironflow/hub/wire"
)

// rig is an outbox in front of a hub that answers as scripted.
type rig struct {
	*outbox.Outbox
	mu      sync.Mutex
	posted  []string
	answer  func(n int) error
	changes int
}

func start(t *testing.T, answer func(n int) error) *rig {
	r := &rig{answer: answer}
	r.Outbox = outbox.New(func(_ context.Context, reply wire.StepReply) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.posted = append(r.posted, string(reply.StepType)+" "+reply.Output)
		return r.answer(len(r.posted) - 1)
	}, func() { r.changes++ }, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); r.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return r
}

func accept(int) error { return nil }

func reply(kind wire.StepType, output string) wire.StepReply {
	return wire.StepReply{StepType: kind, Output: output}
}

func TestUnchangedResultsAreNotSentForAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, accept)
		say := func(output string) { r.Put(reply("inventory", output)); synctest.Wait() }
		say("a")
		say("a")
		g.Expect(r.posted).To(Equal([]string{"inventory a"}))
		say("b")
		say("a")
		g.Expect(r.posted).To(HaveLen(3), "every change is sent, also back")
		<-time.After(outbox.CacheFor + time.Second)
		say("a")
		g.Expect(r.posted).To(HaveLen(4))
		before := r.changes
		r.Doubt()
		say("a")
		g.Expect(r.posted).To(HaveLen(5), "after a failed poll everything is said again")
		g.Expect(r.changes).To(Equal(before), "but it is no news")
		r.Forget()
		say("a")
		g.Expect(r.posted).To(HaveLen(6), "after a registration too")
		g.Expect(r.changes).To(Equal(before+1), "and the hub makes something of it")
	})
}

func TestFailuresAreAlwaysSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, accept)
		for range 3 {
			r.Put(wire.StepReply{StepType: "inventory", ExitCode: -1})
			synctest.Wait()
		}
		g.Expect(r.posted).To(HaveLen(3))
		g.Expect(r.changes).To(Equal(1), "the same failure changes the picture once")
	})
}

func TestNewestReplyOfATypeWins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, func(n int) error {
			if n == 0 {
				return errors.New("connection reset")
			}
			return nil
		})
		r.Put(reply("inventory", "old"))
		synctest.Wait()
		r.Put(reply("inventory", "new"))
		r.Drain(t.Context())
		g.Expect(r.posted).To(Equal([]string{"inventory old", "inventory new"}))
	})
}

// TestWhatIsTrueAgainReplacesWhatWaits: the hub took "a" and has missed "b"; it must
// not hear of "b" after "a" has come true again.
func TestWhatIsTrueAgainReplacesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, func(n int) error {
			if n == 1 {
				return errors.New("connection reset")
			}
			return nil
		})
		for _, output := range []string{"a", "b", "a"} {
			r.Put(reply("inventory", output))
			synctest.Wait()
		}
		r.Drain(t.Context())
		g.Expect(r.posted[len(r.posted)-1]).To(Equal("inventory a"))
	})
}

func TestRetriesAreBounded(t *testing.T) {
	for name, tc := range map[string]struct {
		err      error
		min, max int
	}{
		"a bad request is final":   {&hubclient.StatusError{Code: 400}, 1, 1},
		"an unknown host too":      {&hubclient.StatusError{Code: 404}, 1, 1},
		"an outage is not":         {errors.New("connection refused"), 10, 20},
		"nor a hub that is busy":   {&hubclient.StatusError{Code: 503}, 10, 20},
		"nor a body that was late": {&hubclient.StatusError{Code: 408}, 10, 20},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r := start(t, func(int) error { return tc.err })
				r.Put(reply("inventory", "x"))
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				r.Drain(ctx)
				g.Expect(ctx.Err()).NotTo(HaveOccurred(), "the reply is dropped in the end")
				g.Expect(len(r.posted)).To(And(BeNumerically(">=", tc.min), BeNumerically("<=", tc.max)))
				g.Expect(r.changes).To(BeZero())
			})
		})
	}
}

func TestOneStuckReplyDoesNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var r *rig
		r = start(t, func(n int) error {
			if r.posted[n] == "inventory x" {
				return errors.New("refused")
			}
			return nil
		})
		r.Put(reply("inventory", "x"))
		synctest.Wait()
		r.Put(reply("ntp-synchronizer", "y"))
		synctest.Wait()
		g.Expect(r.posted).To(ContainElement("ntp-synchronizer y"))
	})
}

func TestMeasurementsChangeThePictureOnlyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := start(t, accept)
		for _, rtt := range []string{"0.31", "0.32", "0.29"} {
			r.Put(reply(wire.StepTypeConnectivityCheck, rtt))
			synctest.Wait()
		}
		g.Expect(r.posted).To(HaveLen(3))
		g.Expect(r.changes).To(Equal(1))
	})
}
