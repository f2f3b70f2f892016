package unit

import (
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/apierror"
)

// taking is a unit of work that takes so long.
func taking(d time.Duration) func(*Work) error {
	return func(*Work) error {
		<-time.After(d)
		return nil
	}
}

// TestWhoIsSentAwayComesWhenTheHubHasTime: each at a moment of its own, behind all that the hub has to do.
func TestWhoIsSentAwayComesWhenTheHubHasTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		const calls, takes = 60 * atOnce, time.Second
		ended := make(chan error)
		for range calls {
			go func() { ended <- u.Update(t.Context(), taking(takes)) }()
		}
		g.Expect(u.Behind()).To(BeFalse(), "nobody knows yet how long it takes")
		<-time.After(10*takes + takes/2)
		g.Expect(u.Behind()).To(BeTrue())
		var after []time.Duration
		for range 2 * atOnce {
			busy, ok := errors.AsType[*apierror.BusyError](u.Later())
			g.Expect(ok).To(BeTrue())
			after = append(after, busy.After)
		}
		g.Expect(after[0]).To(BeNumerically("~", 50*takes, 3*takes))
		g.Expect(after[len(after)-1]-after[0]).To(BeNumerically("~", 2*takes, takes/2), "as they are got through")
		done := 0
		for range calls {
			err := <-ended
			if err == nil {
				done++
				continue
			}
			g.Expect(apierror.Code(err)).To(Equal(http.StatusServiceUnavailable), "%v", err)
		}
		g.Expect(done).To(BeNumerically("~", atOnce*int(patience/takes), atOnce), "the hub works as fast as ever")
		g.Expect(u.Behind()).To(BeFalse())
	})
}

// TestWhoIsLetInIsAnsweredInTime with twice as many as the hub gets through for minutes, and the hub is never idle. With the
// newest first, those who came before would wait in vain; with nobody sent away, each would be served when it gives up.
func TestWhoIsLetInIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		const seconds, perSecond = 180, 2 * atOnce
		var longest time.Duration
		late, done := 0, 0
		var mu sync.Mutex
		var calling sync.WaitGroup
		begin := time.Now()
		for range seconds * perSecond {
			<-time.After(time.Second / perSecond)
			if u.Behind() {
				continue
			}
			calling.Go(func() {
				came := time.Now()
				err := u.Update(t.Context(), taking(time.Second))
				mu.Lock()
				defer mu.Unlock()
				longest = max(longest, time.Since(came))
				if err != nil {
					late++
				} else {
					done++
				}
			})
		}
		calling.Wait()
		g.Expect(late).To(BeZero())
		g.Expect(longest).To(BeNumerically("<", patience))
		g.Expect(done).To(BeNumerically("~", atOnce*time.Since(begin).Seconds(), 2*atOnce))
	})
}

// TestNobodyIsSentAwayForLong, however many there are: a host that stays away for three minutes looks dead, and an
// agent comes up to a quarter later. They do not all come at the same moment either.
func TestNobodyIsSentAwayForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		for range sample {
			g.Expect(u.Update(t.Context(), taking(time.Second))).To(Succeed())
		}
		seconds := map[int64]int{}
		for range 10_000 {
			busy, ok := errors.AsType[*apierror.BusyError](u.Later())
			g.Expect(ok).To(BeTrue())
			g.Expect(busy.After).To(BeNumerically("<=", 2*time.Minute))
			seconds[busy.Seconds()]++
		}
		for second, hosts := range seconds {
			g.Expect(hosts).To(BeNumerically("<", 500), "%d s", second)
		}
	})
}

// TestASlowHourIsForgotten once the hub is fast again, also when few ask and with long pauses between them.
func TestASlowHourIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		ended := make(chan error)
		for range 2 * sample {
			g.Expect(u.Update(t.Context(), taking(30*time.Second))).To(Succeed())
		}
		go func() { ended <- u.Update(t.Context(), taking(30*time.Second)) }()
		synctest.Wait()
		g.Expect(u.Behind()).To(BeTrue(), "even with one")
		g.Expect(<-ended).To(Succeed())
		for range 2 * sample {
			<-time.After(time.Minute)
			g.Expect(u.Update(t.Context(), taking(10*time.Millisecond))).To(Succeed())
		}
		for range 10 * atOnce {
			go func() { ended <- u.Update(t.Context(), taking(10*time.Millisecond)) }()
		}
		synctest.Wait()
		g.Expect(u.Behind()).To(BeFalse())
		for range 10 * atOnce {
			g.Expect(<-ended).To(Succeed())
		}
	})
}
