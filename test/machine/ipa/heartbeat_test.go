package ipa

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // the clock of testing/synctest: nobody waits
	synctest.Wait()
}

// TestHeartbeatTimes walks one heartbeater through its reasons to beat, in
// false time.
func TestHeartbeatTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		begin := time.Now()
		times, fail := make(chan time.Duration, 100), atomic.Bool{}
		var at []time.Duration
		beats := func() []time.Duration {
			for len(times) > 0 {
				at = append(at, <-times)
			}
			return at
		}
		h := newHeartbeater(Pace{}.withDefaults(), 300*time.Second, func(context.Context) error {
			times <- time.Since(begin)
			if fail.Load() {
				return errors.New("locked")
			}
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, cancel := context.WithCancel(t.Context())
		go h.run(ctx)

		synctest.Wait()
		g.Expect(beats()).To(Equal([]time.Duration{0}), "the first at once")

		pass(2 * time.Second)
		signal(h.forced)
		pass(time.Minute)
		g.Expect(beats()).To(HaveLen(2))
		g.Expect(at[1]).To(Equal(5*time.Second), "a forced one, not sooner than 5 s after the last")

		pass(125 * time.Second)
		g.Expect(beats()).To(HaveLen(3))
		g.Expect(at[2]-at[1]).To(BeNumerically("~", 135*time.Second, 45*time.Second), "0.3 to 0.6 of the timeout")

		fail.Store(true)
		signal(h.prompt)
		synctest.Wait()
		g.Expect(beats()).To(HaveLen(4), "a prompt one now")
		pass(11 * time.Second)
		g.Expect(len(beats())).To(BeNumerically(">=", 5))
		g.Expect(at[4]-at[3]).To(BeNumerically("~", 7500*time.Millisecond, 2500*time.Millisecond), "a refused one again after 5 to 10 s")

		cancel()
		synctest.Wait()
	})
}
