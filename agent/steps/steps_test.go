package steps_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

type replies struct {
	mu   sync.Mutex
	list []wire.StepReply
}

func (r *replies) add(reply wire.StepReply) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, reply)
}

func dispatcher(registry steps.Registry) (*steps.Dispatcher, *replies) {
	r := &replies{}
	return steps.NewDispatcher(registry, r.add, slog.New(slog.DiscardHandler)), r
}

func TestOneRunPerTypeAnswersTheLastRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		runs := 0
		d, r := dispatcher(steps.Registry{"inventory": {Deadline: time.Minute, Run: func(context.Context, []string) steps.Result {
			runs++
			<-time.After(10 * time.Second)
			return steps.Text("ok")
		}}})
		for _, id := range []string{"inventory-1", "inventory-2", "inventory-3"} {
			d.Dispatch(t.Context(), wire.Step{StepType: "inventory", StepID: id})
			synctest.Wait()
		}
		d.Wait(t.Context())
		g.Expect(runs).To(Equal(1))
		g.Expect(r.list).To(Equal([]wire.StepReply{{StepType: "inventory", StepID: "inventory-3", Output: "ok"}}))
		d.Dispatch(t.Context(), wire.Step{StepType: "inventory", StepID: "inventory-4"})
		d.Wait(t.Context())
		g.Expect(runs).To(Equal(2), "an ended run makes room")
	})
}

func TestEndsOfSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		run  func(context.Context, []string) steps.Result
		exit int64
		text string
	}{
		"panic": {func(context.Context, []string) steps.Result { panic("odd hardware") }, -1, "odd hardware"},
		"deadline heeded": {func(ctx context.Context, _ []string) steps.Result {
			<-ctx.Done()
			return steps.Failed(-1, "%v", context.Cause(ctx))
		}, 124, "did not end within 30s"},
		"deadline not heeded": {func(context.Context, []string) steps.Result {
			<-time.After(time.Hour)
			return steps.Text("late")
		}, 124, "did not end within 30s"},
		"failure": {func(context.Context, []string) steps.Result { return steps.Failed(2, "no image") }, 2, "no image"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				d, r := dispatcher(steps.Registry{"install": {Deadline: 30 * time.Second, Run: tc.run}})
				d.Dispatch(t.Context(), wire.Step{StepType: "install", StepID: "install-1"})
				d.Wait(t.Context())
				g.Expect(r.list).To(HaveLen(1))
				g.Expect(r.list[0].ExitCode).To(Equal(tc.exit))
				g.Expect(r.list[0].Error).To(ContainSubstring(tc.text))
			})
		})
	}
}

func TestLostBootMedium(t *testing.T) {
	for name, tc := range map[string]struct {
		answers []error // of the looks, one after the other
		exit    int64   // of the step itself
		runs    int
		want    int64
	}{
		"lost before the step":   {[]error{errors.New("gone")}, 0, 0, 256},
		"lost during the step":   {[]error{nil, errors.New("gone")}, -1, 1, 256},
		"lost, but it succeeded": {[]error{nil, errors.New("gone")}, 0, 1, 0},
		"failed for itself":      {[]error{nil, nil}, -1, 1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			runs, looks := 0, 0
			d, r := dispatcher(steps.Registry{"inventory": {Deadline: time.Minute, Run: func(context.Context, []string) steps.Result {
				runs++
				return steps.Result{Exit: tc.exit}
			}}})
			d.Media = func() error { looks++; return tc.answers[looks-1] }
			d.Dispatch(t.Context(), wire.Step{StepType: "inventory"})
			d.Wait(t.Context())
			g.Expect(runs).To(Equal(tc.runs))
			g.Expect(r.list).To(HaveLen(1))
			g.Expect(r.list[0].ExitCode).To(Equal(tc.want))
		})
	}
}

func TestUnknownAndSilentSteps(t *testing.T) {
	g := NewWithT(t)
	d, r := dispatcher(steps.Registry{"install": {Deadline: time.Minute, Run: func(context.Context, []string) steps.Result { return steps.Silent }}})
	d.Dispatch(t.Context(), wire.Step{StepType: "execute", StepID: "execute-1", Args: []string{"rm", "-rf", "/"}})
	d.Dispatch(t.Context(), wire.Step{StepType: "install", StepID: "install-1"})
	d.Wait(t.Context())
	g.Expect(r.list).To(HaveLen(1), "a silent result is not sent")
	g.Expect(r.list[0].ExitCode).To(Equal(int64(-1)))
	g.Expect(r.list[0].Error).To(ContainSubstring(`"execute" is not known`))
}

func TestDecode(t *testing.T) {
	for name, tc := range map[string]struct {
		args    []string
		wantErr string
	}{
		"good":     {[]string{`{"ntp_source":"a"}`}, ""},
		"none":     {nil, "got 0 arguments, want 1"},
		"two":      {[]string{"{}", "{}"}, "got 2 arguments"},
		"not JSON": {[]string{"{"}, "cannot be read"},
		"too long": {[]string{string(make([]byte, 9<<20))}, "more than"},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			_, err := steps.Decode[wire.NTPSynchronizationRequest](tc.args)
			if tc.wantErr == "" {
				g.Expect(err).NotTo(HaveOccurred())
				return
			}
			g.Expect(err).To(MatchError(ContainSubstring(tc.wantErr)))
		})
	}
}
