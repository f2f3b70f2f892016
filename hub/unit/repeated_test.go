package unit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// TestTheSameWorkIsDoneOnce for all who ask meanwhile, and goes on when they leave.
func TestTheSameWorkIsDoneOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var repeated Repeated[int]
		works, goOn := 0, make(chan struct{})
		first, leave := context.WithCancel(t.Context())
		ended := make(chan int)
		ask := func(ctx context.Context) {
			n, err := repeated.Do(ctx, "a", func(ctx context.Context) (int, error) {
				works++
				<-goOn
				return works, ctx.Err()
			})
			g.Expect(err).NotTo(HaveOccurred())
			ended <- n
		}
		go ask(first)
		synctest.Wait()
		go ask(t.Context())
		synctest.Wait()
		leave()
		close(goOn)
		g.Expect([]int{<-ended, <-ended}).To(Equal([]int{1, 1}))
		go ask(t.Context())
		g.Expect(<-ended).To(Equal(2), "later it is other work")
	})
}

// TestRepeatedWorkEnds also where nobody waits for it: a store that hangs would keep its host out for ever.
func TestRepeatedWorkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var repeated Repeated[int]
		begin := time.Now()
		_, err := repeated.Do(t.Context(), "a", func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		g.Expect(err).To(MatchError(context.DeadlineExceeded))
		g.Expect(time.Since(begin)).To(Equal(longestRepeated))
	})
}

// TestWorkThatBreaksOff is not taken for done by those who wait for it.
func TestWorkThatBreaksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var repeated Repeated[int]
		goOn, ended := make(chan struct{}), make(chan any)
		for range 2 {
			go func() {
				defer func() { ended <- recover() }()
				_, _ = repeated.Do(t.Context(), "a", func(context.Context) (int, error) {
					<-goOn
					panic("a bug")
				})
			}()
			synctest.Wait()
		}
		close(goOn)
		g.Expect([]any{<-ended, <-ended}).To(HaveEach(MatchError(ContainSubstring("a bug"))))
	})
}
