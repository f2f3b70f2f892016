package service

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/outbox"
	"github.com/ironflow/ironflow/agent/poll"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// leaving is an agent with the given step running, and what it has posted.
func leaving(t *testing.T, run func(context.Context, []string) steps.Result) (a *agent, posted *[]wire.StepReply) {
	t.Helper()
	posted = &[]wire.StepReply{}
	log := slog.New(slog.DiscardHandler)
	a = &agent{log: log}
	a.outbox = outbox.New(func(_ context.Context, r wire.StepReply) error { *posted = append(*posted, r); return nil }, func() {}, log)
	a.dispatcher = steps.NewDispatcher(steps.Registry{"inventory": {Deadline: time.Minute, Run: run}}, a.outbox.Put, log)
	a.dispatcher.Dispatch(t.Context(), wire.Step{StepType: "inventory", StepID: "inventory-1"})
	go a.outbox.Run(t.Context())
	return a, posted
}

func TestAHostThatIsLetGoEndsItsStepsFirst(t *testing.T) {
	for name, tc := range map[string]struct {
		takes   time.Duration
		heeds   bool
		delay   time.Duration
		replies int
		after   time.Duration
	}{
		"a step that ends by itself is answered":        {3 * time.Second, true, 0, 1, 3 * time.Second},
		"the hub's delay passes":                        {3 * time.Second, true, 120 * time.Second, 1, 120 * time.Second},
		"a step within the hub's delay may end":         {100 * time.Second, true, 120 * time.Second, 1, 120 * time.Second},
		"one that takes longer is cancelled":            {30 * time.Second, true, 0, 0, exitGrace},
		"one that does not end is waited for no longer": {time.Hour, false, 0, 0, exitGrace + cancelGrace},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				a, posted := leaving(t, func(ctx context.Context, _ []string) steps.Result {
					done := ctx.Done()
					if !tc.heeds {
						done = nil
					}
					select {
					case <-time.After(tc.takes):
						return steps.Text("ok")
					case <-done:
						return steps.Failed(-1, "cancelled")
					}
				})
				start := time.Now()
				g.Expect(a.settle(t.Context(), poll.Again{After: tc.delay, Reason: "moving", Exit: true})).To(BeTrue())
				g.Expect(time.Since(start)).To(Equal(tc.after))
				g.Expect(*posted).To(HaveLen(tc.replies))
				a.dispatcher.Wait(t.Context())
			})
		})
	}
}

func TestAnAgentThatEndsDoesNotWaitForTheHubsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		a, _ := leaving(t, func(context.Context, []string) steps.Result { return steps.Text("ok") })
		work, stop := context.WithCancelCause(t.Context())
		go func() { <-time.After(time.Second); stop(errors.New("SIGTERM")) }()
		start := time.Now()
		g.Expect(a.settle(work, poll.Again{After: time.Hour, Exit: true})).To(BeFalse())
		g.Expect(time.Since(start)).To(Equal(time.Second))
	})
}
