package steps_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// manySteps is a registry of so many short and long steps, each of which takes ten
// seconds, and the log of when each began.
type manySteps struct {
	steps.Registry
	start time.Time
	began map[wire.StepType]time.Duration
	lock  chan struct{}
}

func newManySteps(short, long int) *manySteps {
	c := &manySteps{Registry: steps.Registry{}, start: time.Now(), began: map[wire.StepType]time.Duration{}, lock: make(chan struct{}, 1)}
	for i := range short {
		c.add(fmt.Sprintf("short-%d", i), steps.Runner{Deadline: time.Minute})
	}
	for i := range long {
		c.add(fmt.Sprintf("long-%d", i), steps.Runner{Deadline: time.Hour})
	}
	return c
}

func (c *manySteps) add(name string, r steps.Runner) {
	kind := wire.StepType(name)
	r.Run = func(ctx context.Context, args []string) steps.Result {
		c.lock <- struct{}{}
		c.began[kind] = time.Since(c.start)
		<-c.lock
		select {
		case <-time.After(10 * time.Second):
			return steps.Text(fmt.Sprint(args))
		case <-ctx.Done():
			return steps.Failed(-1, "%v", context.Cause(ctx))
		}
	}
	c.Registry[kind] = r
}

func dispatchAll(t *testing.T, d *steps.Dispatcher, names ...string) {
	t.Helper()
	for _, name := range names {
		d.Dispatch(t.Context(), wire.Step{StepType: wire.StepType(name), StepID: name})
	}
}

func TestABoundedNumberOfStepsRunsInOrderOfArrival(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(14, 0)
		d, r := dispatcher(c.Registry)
		for i := range 14 {
			dispatchAll(t, d, fmt.Sprintf("short-%d", i))
		}
		d.Wait(t.Context())
		for i := range 14 {
			g.Expect(c.began[wire.StepType(fmt.Sprintf("short-%d", i))]).To(Equal(time.Duration(i/6)*10*time.Second), "step %d", i)
		}
		g.Expect(r.list).To(HaveLen(14))
	})
}

func TestLongStepsDoNotHoldBackShortOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(3, 5)
		d, _ := dispatcher(c.Registry)
		dispatchAll(t, d, "long-0", "long-1", "long-2", "long-3", "long-4", "short-0", "short-1", "short-2")
		d.Wait(t.Context())
		g.Expect(c.began).To(Equal(map[wire.StepType]time.Duration{
			"long-0": 0, "long-1": 0, "long-2": 0, "short-0": 0, "short-1": 0, "short-2": 0,
			"long-3": 10 * time.Second, "long-4": 10 * time.Second,
		}))
	})
}

func TestAStepThatHandsOverDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(10, 0)
		c.add("stop-installation", steps.Runner{Deadline: time.Minute, HandsOver: true})
		d, _ := dispatcher(c.Registry)
		for i := range 10 {
			dispatchAll(t, d, fmt.Sprintf("short-%d", i))
		}
		dispatchAll(t, d, "stop-installation")
		d.Wait(t.Context())
		g.Expect(c.began).To(HaveKeyWithValue(wire.StepType("stop-installation"), time.Duration(0)))
	})
}

func TestAWaitingStepTakesTheNewestArguments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(0, 4)
		d, r := dispatcher(c.Registry)
		dispatchAll(t, d, "long-0", "long-1", "long-2", "long-3")
		d.Dispatch(t.Context(), wire.Step{StepType: "long-3", StepID: "again", Args: []string{"new"}})
		d.Wait(t.Context())
		g.Expect(r.list).To(ContainElement(wire.StepReply{StepType: "long-3", StepID: "again", Output: "[new]"}))
		g.Expect(r.list).To(HaveLen(4))
	})
}

// What runs has the old arguments, so it is no answer to the newest request.
func TestARequestWithOtherArgumentsFollowsTheRun(t *testing.T) {
	const kind = wire.StepType("long-0")
	old := wire.StepReply{StepType: kind, StepID: "long-0", Output: "[]"}
	for name, c := range map[string]struct {
		args    []string // of the requests that come while the first one runs, with ids a, b, …
		replies []wire.StepReply
	}{
		"once":            {[]string{"x"}, []wire.StepReply{old, {StepType: kind, StepID: "a", Output: "[x]"}}},
		"the newest":      {[]string{"x", "y"}, []wire.StepReply{old, {StepType: kind, StepID: "b", Output: "[y]"}}},
		"and back":        {[]string{"x", ""}, []wire.StepReply{{StepType: kind, StepID: "b", Output: "[]"}}},
		"the same, again": {[]string{"x", "x"}, []wire.StepReply{old, {StepType: kind, StepID: "b", Output: "[x]"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				many := newManySteps(0, 1)
				d, r := dispatcher(many.Registry)
				dispatchAll(t, d, "long-0")
				synctest.Wait()
				for i, args := range c.args {
					d.Dispatch(t.Context(), wire.Step{StepType: kind, StepID: string(rune('a' + i)), Args: strings.Fields(args)})
				}
				d.Wait(t.Context())
				g.Expect(r.list).To(Equal(c.replies))
			})
		})
	}
}

func TestACancelledRunIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(0, 1)
		d, r := dispatcher(c.Registry)
		dispatchAll(t, d, "long-0")
		synctest.Wait()
		d.Dispatch(t.Context(), wire.Step{StepType: "long-0", StepID: "a", Args: []string{"x"}})
		d.Cancel(errGone, func(wire.StepType) bool { return true })
		d.Wait(t.Context())
		g.Expect(r.list).To(BeEmpty())
		g.Expect(c.began).To(HaveLen(1))
	})
}

func TestAStuckStepKeepsNoWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(0, 3)
		c.Registry["long-stuck"] = steps.Runner{Deadline: 3 * time.Minute, Run: func(context.Context, []string) steps.Result {
			<-time.After(time.Hour)
			return steps.Text("late")
		}}
		d, r := dispatcher(c.Registry)
		dispatchAll(t, d, "long-stuck")
		<-time.After(4 * time.Minute)
		dispatchAll(t, d, "long-0", "long-1", "long-2", "long-stuck")
		<-time.After(11 * time.Second)
		synctest.Wait()
		g.Expect(r.list).To(HaveLen(4), "three runs beside the stuck one, whose late word is dropped")
		g.Expect(r.list[0].ExitCode).To(Equal(int64(steps.ExitTimeout)))
		d.Wait(t.Context())
		g.Expect(r.list).To(HaveLen(4))
	})
}

var errGone = errors.New("the hub ended the installation")

func TestMootStepsAreCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(1, 5)
		cause := make(chan error, 1)
		c.Registry["long-0"] = steps.Runner{Deadline: time.Hour, Run: func(ctx context.Context, _ []string) steps.Result {
			<-ctx.Done()
			cause <- context.Cause(ctx)
			return steps.Failed(-1, "not ready")
		}}
		c.Registry["long-1"] = steps.Runner{Deadline: time.Hour, Run: func(ctx context.Context, _ []string) steps.Result {
			<-ctx.Done()
			return steps.Text("just done")
		}}
		d, r := dispatcher(c.Registry)
		dispatchAll(t, d, "short-0", "long-0", "long-1", "long-2", "long-3", "long-4")
		synctest.Wait()
		d.Cancel(errGone, func(kind wire.StepType) bool {
			return slices.Contains([]wire.StepType{"long-0", "long-1", "long-4"}, kind)
		})
		d.Wait(t.Context())
		g.Expect(<-cause).To(MatchError(errGone))
		g.Expect(r.list).To(ConsistOf(
			HaveField("StepType", wire.StepType("short-0")), HaveField("StepType", wire.StepType("long-2")), HaveField("StepType", wire.StepType("long-3")),
			wire.StepReply{StepType: "long-1", StepID: "long-1", Output: "just done"},
		), "what was done is said, what was not is not")
		g.Expect(c.began).NotTo(HaveKey(wire.StepType("long-4")), "a moot step is not begun")
		g.Expect(c.began["long-3"]).To(BeZero(), "the worker of a cancelled step is free at once")
	})
}

// When the agent ends, what it did not come to is no result: a hub would keep it.
func TestStepsThatTheAgentsEndCutsOffAreNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		c := newManySteps(0, 1)
		c.Registry["long-1"] = steps.Runner{Deadline: time.Hour, Run: func(ctx context.Context, _ []string) steps.Result {
			<-ctx.Done()
			return steps.Result{Exit: steps.ExitPull, Output: `{"images":[{"name":"a","result":"failure"}]}`}
		}}
		d, r := dispatcher(c.Registry)
		ctx, cancel := context.WithCancelCause(t.Context())
		for _, name := range []string{"long-0", "long-1"} {
			d.Dispatch(ctx, wire.Step{StepType: wire.StepType(name), StepID: name})
		}
		synctest.Wait()
		cancel(errors.New("the agent was stopped"))
		d.Wait(t.Context())
		g.Expect(r.list).To(BeEmpty())
	})
}

func TestStopWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		ended := false
		d, r := dispatcher(steps.Registry{"installation-disk-speed-check": {Deadline: time.Hour, Run: func(ctx context.Context, _ []string) steps.Result {
			<-ctx.Done()
			<-time.After(2 * time.Second) // a write that the kernel has taken
			ended = true
			return steps.Failed(-1, "stopped")
		}}})
		g.Expect(d.Stop(t.Context(), errGone, "installation-disk-speed-check")).To(Succeed(), "nothing to stop")
		dispatchAll(t, d, "installation-disk-speed-check")
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		g.Expect(d.Stop(short, errGone, "installation-disk-speed-check")).To(MatchError(context.DeadlineExceeded))
		g.Expect(d.Stop(t.Context(), errGone, "installation-disk-speed-check")).To(Succeed())
		g.Expect(ended).To(BeTrue())
		g.Expect(r.list).To(BeEmpty())
	})
}
