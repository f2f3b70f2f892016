package poll

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/agent/hubclient"
	"github.com/ironflow/ironflow/hub/wire"
)

// fake answers polls by their number, counted from 0.
type fake struct {
	answer func(n int) (hubclient.Instructions, error)
	at     []time.Duration
	start  time.Time
	takes  time.Duration

	reloaded int
}

func (f *fake) Instructions(context.Context, hubclient.Host, time.Time) (hubclient.Instructions, error) {
	f.at = append(f.at, time.Since(f.start))
	answer, err := f.answer(len(f.at) - 1)
	if f.takes > 0 {
		<-time.After(f.takes)
	}
	return answer, err
}

func (f *fake) ReloadToken() bool { f.reloaded++; return false }

type rig struct {
	*fake
	loop       *Loop
	changed    chan struct{}
	dispatched []wire.StepType
	forgotten  int
	said       []string
	busy       bool
}

func newRig(answer func(n int) (hubclient.Instructions, error)) *rig {
	r := &rig{fake: &fake{answer: answer, start: time.Now()}, changed: make(chan struct{}, 1)}
	r.loop = &Loop{
		Hub: r.fake, Changed: r.changed, Log: slog.New(slog.DiscardHandler),
		Dispatch: func(s wire.Step) { r.dispatched = append(r.dispatched, s.StepType) },
		Forget:   func() { r.forgotten++ }, Busy: func() bool { return r.busy },
		Random: func() float64 { return 0 },
		Status: func(s string) { r.said = append(r.said, s) }, Entered: func(Situation) {},
	}
	return r
}

// polls runs the loop for the duration.
func (r *rig) polls(t *testing.T, d time.Duration) (Again, error) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	return r.loop.Run(ctx)
}

func steps(seconds int64, types ...wire.StepType) (hubclient.Instructions, error) {
	out := hubclient.Instructions{Gap: 2 * time.Second, Steps: wire.Steps{NextInstructionSeconds: seconds}}
	for _, t := range types {
		out.Instructions = append(out.Instructions, wire.Step{StepType: t})
	}
	return out, nil
}

func seconds(at []time.Duration) []float64 {
	out := make([]float64, len(at))
	for i := range at {
		out[i] = at[i].Round(100 * time.Millisecond).Seconds()
	}
	return out
}

func TestPollsSlowDownWhileNothingChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := newRig(func(int) (hubclient.Instructions, error) { return steps(60, wire.StepTypeInventory) })
		_, err := r.polls(t, 200*time.Second)
		g.Expect(err).To(HaveOccurred())
		g.Expect(seconds(r.at)).To(Equal([]float64{0, 2, 4, 8, 16, 32, 64, 124, 184}))
	})
}

func TestPollComesSoonAfterAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := newRig(func(int) (hubclient.Instructions, error) { return steps(60, wire.StepTypeInventory) })
		go func() {
			<-time.After(100 * time.Second) // between the polls at 64 and 124
			r.changed <- struct{}{}
			r.changed <- struct{}{} // a burst of replies is one change
		}()
		_, _ = r.polls(t, 110*time.Second)
		g.Expect(seconds(r.at)).To(Equal([]float64{0, 2, 4, 8, 16, 32, 64, 100, 102, 104, 108}))
	})
}

func TestTheHubsDelayIsTheUpperBound(t *testing.T) {
	for name, tc := range map[string]struct {
		seconds int64
		want    []float64
	}{
		"short":             {5, []float64{0, 2, 4, 8, 13, 18, 23, 28}},
		"shorter than fast": {1, []float64{0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28}},
		"absent":            {0, []float64{0, 2, 4, 8, 16}},
		"absurd":            {1 << 62, []float64{0, 2, 4, 8, 16}},
		"negative":          {-5, []float64{0, 2, 4, 8, 16}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(func(int) (hubclient.Instructions, error) { return steps(tc.seconds) })
				_, _ = r.polls(t, 29*time.Second)
				NewWithT(t).Expect(seconds(r.at)).To(Equal(tc.want))
			})
		})
	}
}

func TestTheLeastGapIsTheHubsWord(t *testing.T) {
	for name, tc := range map[string]struct {
		gap, takes time.Duration
		random     float64
		want       []float64
	}{
		"a hub that says nothing":     {0, 0, 0, []float64{0, 5, 10, 20, 40, 80, 140}},
		"a hub with few hosts":        {time.Second, 0, 0, []float64{0, 2, 4, 8, 16, 32, 64, 124}},
		"a hub with many hosts":       {30 * time.Second, 0, 0, []float64{0, 30, 60, 120}},
		"never more than a minute":    {5 * time.Minute, 0, 0, []float64{0, 60, 120}},
		"a hub that answers slowly":   {2 * time.Second, 4 * time.Second, 0, []float64{0, 20, 40, 80, 140}},
		"spread, but never after 60s": {2 * time.Second, 0, 0.8, []float64{0, 2.4, 5.3, 11.6, 25.6, 56.2, 111.4}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(func(int) (hubclient.Instructions, error) {
					answer, err := steps(60)
					answer.Gap = tc.gap
					return answer, err
				})
				r.takes = tc.takes
				r.loop.Random = func() float64 { return tc.random }
				_, _ = r.polls(t, 150*time.Second)
				NewWithT(t).Expect(seconds(r.at)).To(Equal(tc.want))
			})
		})
	}
}

func TestAChangeDoesNotUndercutTheGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(int) (hubclient.Instructions, error) {
			answer, err := steps(60)
			answer.Gap = 20 * time.Second
			return answer, err
		})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil {
				select {
				case r.changed <- struct{}{}:
				case <-ctx.Done():
				}
				select {
				case <-time.After(time.Second):
				case <-ctx.Done():
				}
			}
		}()
		_, _ = r.polls(t, 70*time.Second)
		NewWithT(t).Expect(seconds(r.at)).To(Equal([]float64{0, 20, 40, 60}))
	})
}

func TestRetryAfterOfAPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := newRig(func(int) (hubclient.Instructions, error) {
			return hubclient.Instructions{}, &hubclient.StatusError{Code: 503, RetryAfter: 40 * time.Second}
		})
		_, _ = r.polls(t, 10*time.Minute)
		g.Expect(len(r.at)).To(BeNumerically(">", 8))
		for i := range r.at[1:] {
			g.Expect(r.at[i+1] - r.at[i]).To(And(BeNumerically(">=", 40*time.Second), BeNumerically("<=", 90*time.Second)))
		}
	})
}

func TestAHubThatKeepsUsWaitingIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(func(int) (hubclient.Instructions, error) { return hubclient.Instructions{}, errors.New("timed out") })
		r.takes = 30 * time.Second
		_, _ = r.polls(t, 200*time.Second)
		NewWithT(t).Expect(seconds(r.at)).To(Equal([]float64{0, 60, 120, 180}))
	})
}

func TestTheLoopLeavesWithAReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		leave := make(chan string, 1)
		r := newRig(func(n int) (hubclient.Instructions, error) {
			if n == 1 {
				leave <- "upgraded"
			}
			return steps(60)
		})
		r.loop.Leave = leave
		again, err := r.polls(t, time.Minute)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again.Reason).To(Equal("upgraded"))
		g.Expect(r.at).To(HaveLen(2))
	})
}

func TestNobodyLeavesWhileAnInstallerRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		leave := make(chan string, 1)
		r := newRig(func(n int) (hubclient.Instructions, error) {
			if n == 1 {
				leave <- "upgraded"
			}
			return steps(60)
		})
		r.loop.Leave, r.loop.Busy = leave, func() bool { return true }
		_, err := r.polls(t, 10*time.Minute)
		g.Expect(err).To(HaveOccurred(), "it polls until it is stopped")
	})
}

func TestFailedPolls(t *testing.T) {
	for name, tc := range map[string]struct {
		code  int
		busy  bool
		again bool
		after time.Duration
		text  string
	}{
		"404: registers again after a minute":     {404, false, true, time.Minute, "does not know this host"},
		"404 while installing: goes on":           {404, true, false, 0, ""},
		"500 for a quarter of an hour: registers": {500, false, true, 0, "15 minutes"},
		"500 while installing: never gives up":    {500, true, false, 0, ""},
		"401 for a quarter of an hour: registers": {401, false, true, 0, "15 minutes"},
		"403 for a quarter of an hour: registers": {403, false, true, 0, "15 minutes"},
		"405 for a quarter of an hour: registers": {405, false, true, 0, "15 minutes"},
		"401 while installing: never gives up":    {401, true, false, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				r := newRig(func(int) (hubclient.Instructions, error) {
					return hubclient.Instructions{}, &hubclient.StatusError{Code: tc.code, Reason: "sorry"}
				})
				r.busy = tc.busy
				again, err := r.polls(t, time.Hour)
				g.Expect(r.reloaded > 0).To(Equal(tc.code == 401), "a refused token is read again")
				if !tc.again {
					g.Expect(err).To(HaveOccurred(), "only the test ended it")
					g.Expect(len(r.at)).To(BeNumerically(">", 40))
					g.Expect(r.said).To(BeEmpty(), "the installer has the word")
					return
				}
				g.Expect(err).NotTo(HaveOccurred())
				g.Expect(again.After).To(Equal(tc.after))
				g.Expect(again.Reason).To(ContainSubstring(tc.text))
				g.Expect(r.forgotten).To(Equal(len(r.at)), "a failed poll empties the cache")
				g.Expect(r.said[0]).To(ContainSubstring("sorry"))
			})
		})
	}
}

func TestAnOutageIsForgiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := newRig(func(n int) (hubclient.Instructions, error) {
			if n%3 != 2 { // two failures, one success, again and again
				return hubclient.Instructions{}, errors.New("connection reset")
			}
			return steps(60)
		})
		_, err := r.polls(t, 2*time.Hour)
		g.Expect(err).To(HaveOccurred(), "never 15 minutes of failures in a row")
	})
}

func TestExitRegistersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		exit := wire.StepsPostStepActionExit
		r := newRig(func(int) (hubclient.Instructions, error) {
			return hubclient.Instructions{Steps: wire.Steps{PostStepAction: &exit}}, nil
		})
		again, err := r.polls(t, time.Minute)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(again).To(Equal(Again{Reason: Moving.Text(), Exit: true}))
	})
}

func TestAJumpOfTheHubsClockIsAnotherHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		r := newRig(func(n int) (hubclient.Instructions, error) {
			answer, _ := steps(60)
			answer.Date = time.Now().Add(-3 * time.Hour) // a wrong clock is no jump
			if n >= 3 {
				answer.Date = time.Now()
			}
			return answer, nil
		})
		_, _ = r.polls(t, time.Minute)
		g.Expect(r.forgotten).To(Equal(1))
	})
}

func TestSituations(t *testing.T) {
	exit := wire.StepsPostStepActionExit
	for name, tc := range map[string]struct {
		types []wire.StepType
		exit  bool
		want  Situation
	}{
		"nothing":               {nil, false, Unknown},
		"binding":               {nil, true, Moving},
		"discovering":           {[]wire.StepType{"inventory"}, false, Discovering},
		"in the pool":           {[]wire.StepType{"inventory", "ntp-synchronizer"}, false, Unbound},
		"lone host":             {[]wire.StepType{"inventory", "ntp-synchronizer", "domain-resolution", "verify-vips"}, false, Bound},
		"insufficient":          {[]wire.StepType{"inventory", "connectivity-check", "ntp-synchronizer"}, false, Insufficient},
		"known":                 {[]wire.StepType{"connectivity-check", "inventory", "ntp-synchronizer", "verify-vips"}, false, Known},
		"preparing":             {[]wire.StepType{"installation-disk-speed-check", "container-image-availability"}, false, Preparing},
		"installing":            {[]wire.StepType{"install"}, false, Installing},
		"error or cancelled":    {[]wire.StepType{"logs-gather", "stop-installation"}, false, Stopping},
		"logs are there by now": {[]wire.StepType{"stop-installation"}, false, Stopping},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			answer, _ := steps(60, tc.types...)
			if tc.exit {
				answer.PostStepAction = &exit
			}
			g.Expect(SituationOf(answer.Steps)).To(Equal(tc.want))
			g.Expect(tc.want.Text()).NotTo(BeEmpty())
		})
	}
}

func TestMootSteps(t *testing.T) {
	for name, tc := range map[string]struct {
		situation                        Situation
		disk, images, logs, stop, others bool
	}{
		"being prepared: all of it counts":            {Preparing, false, false, false, false, false},
		"installing: the disk is the installer's":     {Installing, true, true, false, false, false},
		"called off: the checks are moot":             {Known, true, true, false, false, false},
		"ended: only the logs are asked for":          {Stopping, true, true, false, false, true},
		"an answer that says nothing changes nothing": {Unknown, false, false, false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			for kind, moot := range map[wire.StepType]bool{
				"installation-disk-speed-check": tc.disk, "container-image-availability": tc.images,
				"logs-gather": tc.logs, "stop-installation": tc.stop, "inventory": tc.others,
			} {
				g.Expect(tc.situation.Moot(kind)).To(Equal(moot), string(kind))
			}
		})
	}
}
