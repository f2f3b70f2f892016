package unit

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/apierror"
)

// TestNewHostsAreSentAwayOnce: more than three times as many come within a minute as the hub gets through, each with work that follows its
// registration. Who is sent away is let in when it comes back, also where the hub is slower by then than when it was told, what was begun is
// never sent away, and the hub is never idle.
func TestNewHostsAreSentAwayOnce(t *testing.T) {
	for name, tc := range map[string]struct {
		// slower is how much slower the hub is for half a minute, lost how long that holds it up.
		slower int
		lost   time.Duration
	}{
		"steady":                      {1, 0},
		"three times slower, a while": {3, 20 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g, u := open(t)
				const (
					hosts, window = 2000, time.Minute
					takes         = time.Second * atOnce / 40 // 40 a second, or 10 hosts
				)
				most, late := 0, 0
				var mu sync.Mutex
				var booting sync.WaitGroup
				begin := time.Now()
				work := func(w *Work) error {
					if since := time.Since(begin); since > window && since < window*3/2 {
						return taking(time.Duration(tc.slower) * takes)(w)
					}
					return taking(takes)(w)
				}
				for n := range hosts {
					<-time.After(window / hosts)
					booting.Go(func() {
						refused, failed := 0, 0
						for {
							busy, ok := errors.AsType[*apierror.BusyError](u.Admit(refused > 0))
							if !ok {
								break
							}
							refused++
							<-time.After(time.Duration(busy.Seconds()) * time.Second * time.Duration(100+n%25) / 100) // as the agent does: up to a quarter later
						}
						for range unitsOfNewcomer {
							if u.Update(t.Context(), work) != nil {
								failed++
							}
						}
						mu.Lock()
						defer mu.Unlock()
						most, late = max(most, refused), late+failed
					})
				}
				booting.Wait()
				g.Expect(most).To(Equal(1))
				g.Expect(late).To(BeZero())
				g.Expect(time.Since(begin)).To(BeNumerically("<", hosts*unitsOfNewcomer/atOnce*takes*5/4+tc.lost), "the hub has always something to do")
			})
		})
	}
}

// TestNobodyComesBeforeItsMoment: a host that asks again without having waited is told to wait like all others, behind
// those who do.
func TestNobodyComesBeforeItsMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		ended := make(chan error)
		const (
			calls = 80
			takes = time.Second * atOnce / 8 // 8 a second
		)
		for range calls {
			go func() { ended <- u.Update(t.Context(), taking(takes)) }()
		}
		<-time.After(5*time.Second + time.Second/2) // others behind those may follow
		for range calls / 2 {
			go func() { ended <- u.Update(t.Context(), taking(takes)) }()
		}
		synctest.Wait()
		g.Expect(u.BehindBy()).To(And(BeNumerically(">", newcomersBehind), BeNumerically("<", maxBehind)))
		first, ok := errors.AsType[*apierror.BusyError](u.Admit(false))
		g.Expect(ok).To(BeTrue())
		again, ok := errors.AsType[*apierror.BusyError](u.Admit(false))
		g.Expect(ok).To(BeTrue(), "it has not waited")
		g.Expect(again.After).To(BeNumerically(">", first.After))
		g.Expect(u.Admit(true)).To(Succeed(), "one that has waited, whoever told it to")
		for range calls + calls/2 {
			g.Expect(<-ended).To(Succeed())
		}
		g.Expect(u.Admit(false)).To(Succeed(), "the hub has time")
	})
}
