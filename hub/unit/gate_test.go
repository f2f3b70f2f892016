package unit

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/apierror"
)

var errEnough = errors.New("it has seen enough")

// TestFewUnitsAreUnderWayAtOnce: however many calls there are.
func TestFewUnitsAreUnderWayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		var working atomic.Int64
		goOn, ended := make(chan struct{}), make(chan error)
		const calls = 5 * atOnce
		for range calls {
			go func() {
				ended <- u.Update(t.Context(), func(*Work) error {
					working.Add(1)
					<-goOn
					return errEnough
				})
			}()
		}
		synctest.Wait()
		g.Expect(working.Load()).To(BeEquivalentTo(atOnce))
		close(goOn)
		for range calls {
			g.Expect(<-ended).To(MatchError(errEnough))
		}
		g.Expect(working.Load()).To(BeEquivalentTo(calls))
	})
}

// TestWhoWaitsTooLongIsToldToComeLater: the agent would be gone before its turn, and all who wait behind it.
func TestWhoWaitsTooLongIsToldToComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		goOn, ended := make(chan struct{}), make(chan error)
		work := func() {
			ended <- u.Update(t.Context(), func(*Work) error {
				<-goOn
				return errEnough
			})
		}
		for range atOnce {
			go work()
		}
		synctest.Wait()
		begin := time.Now()
		go work()
		err := <-ended
		g.Expect(apierror.Code(err)).To(Equal(http.StatusServiceUnavailable), "%v", err)
		g.Expect(time.Since(begin)).To(BeNumerically("<", 30*time.Second), "before the agent gives up")
		close(goOn)
		for range atOnce {
			g.Expect(<-ended).To(MatchError(errEnough))
		}
		go work()
		g.Expect(<-ended).To(MatchError(errEnough), "whoever asks later is let in")
	})
}

// TestWhoseTurnItIsDoesNotWaitBehindOthers: otherwise each host of a large cluster would hold up all that come after it.
func TestWhoseTurnItIsDoesNotWaitBehindOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		goOn, firstGoesOn := make(chan struct{}), make(chan struct{})
		first, second, others := make(chan error), make(chan error), make(chan error)
		go func() {
			first <- u.Update(t.Context(), func(w *Work) error {
				err := count("a")(w)
				<-firstGoesOn
				return err
			})
		}()
		synctest.Wait()
		go func() { second <- u.Update(t.Context(), count("a")) }()
		synctest.Wait()
		const calls = 3 * atOnce
		for range calls {
			go func() {
				others <- u.Update(t.Context(), func(*Work) error {
					<-goOn
					return errEnough
				})
			}()
		}
		synctest.Wait()
		close(firstGoesOn)
		g.Expect(<-first).To(Succeed())
		g.Expect(<-second).To(Succeed(), "while many others wait")
		close(goOn)
		for range calls {
			g.Expect(<-others).To(MatchError(errEnough))
		}
		g.Expect(u.counted(t.Context(), g, "a")).To(BeEquivalentTo(2))
	})
}

// TestTheFirstGoesFirst, so that nobody waits for ever behind those who came later.
func TestTheFirstGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		goOn, ended := make(chan struct{}), make(chan error)
		for range atOnce {
			go func() { ended <- u.Update(t.Context(), func(*Work) error { <-goOn; return errEnough }) }()
		}
		synctest.Wait()
		var order []int
		for i := range 3 {
			go func() {
				ended <- u.Update(t.Context(), func(*Work) error {
					order = append(order, i) // one place is free at a time
					<-goOn
					return errEnough
				})
			}()
			synctest.Wait()
		}
		for range atOnce + 3 {
			goOn <- struct{}{}
			g.Expect(<-ended).To(MatchError(errEnough))
			synctest.Wait()
		}
		g.Expect(order).To(Equal([]int{0, 1, 2}))
	})
}

// TestWhoHasGoneIsNotWorkedFor: not from the beginning, not when its turn comes, and nobody waits behind it.
func TestWhoHasGoneIsNotWorkedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		goOn, ended := make(chan struct{}), make(chan error)
		for range atOnce {
			go func() { ended <- u.Update(t.Context(), func(*Work) error { <-goOn; return errEnough }) }()
		}
		synctest.Wait()
		ctx, leave := context.WithCancel(t.Context())
		never := func(*Work) error {
			t.Error("it is worked for one who has gone")
			return nil
		}
		go func() { ended <- u.Update(ctx, never) }()
		synctest.Wait()
		leave()
		g.Expect(<-ended).To(MatchError(context.Canceled))
		close(goOn)
		for range atOnce {
			g.Expect(<-ended).To(MatchError(errEnough))
		}
		g.Expect(u.Update(ctx, never)).To(MatchError(context.Canceled), "with nobody else at work")
		g.Expect(u.Update(t.Context(), count("a"))).To(Succeed())
	})
}

// TestWhoWaitsForAClusterTooLong is told to come later, too.
func TestWhoWaitsForAClusterTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, u := open(t)
		goOn, ended := make(chan struct{}), make(chan error)
		go func() {
			ended <- u.Update(t.Context(), func(w *Work) error {
				err := count("a")(w)
				<-goOn
				return err
			})
		}()
		synctest.Wait()
		begin := time.Now()
		err := u.Update(t.Context(), count("a"))
		g.Expect(apierror.Code(err)).To(Equal(http.StatusServiceUnavailable), "%v", err)
		g.Expect(time.Since(begin)).To(Equal(patience))
		close(goOn)
		g.Expect(<-ended).To(Succeed())
		g.Expect(u.Update(t.Context(), count("a"))).To(Succeed())
	})
}
