package store

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onsi/gomega"
)

// TestConnectionsGoToWhoCameFirst: nobody is overtaken while all connections are in use, and who gives up does not hold up others.
func TestConnectionsGoToWhoCameFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gomega.NewWithT(t)
		p, err := openSQLite(filepath.Join(t.TempDir(), "records"), 1, "immediate", busyTimeout)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		defer func() { g.Expect(p.Close()).To(gomega.Succeed()) }()
		first, done, err := p.begin(t.Context(), nil)
		g.Expect(err).NotTo(gomega.HaveOccurred())
		var order []int
		var want []int
		var waiting sync.WaitGroup
		for n := range 50 {
			ctx := t.Context()
			if n%5 == 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Second)
				defer cancel()
			} else {
				want = append(want, n)
			}
			waiting.Go(func() {
				begun, done, err := p.begin(ctx, nil)
				if err != nil {
					g.Expect(err).To(gomega.And(gomega.MatchError(context.DeadlineExceeded), gomega.MatchError(gomega.ContainSubstring("wait for a connection"))))
					return
				}
				order = append(order, n)
				g.Expect(begun.Rollback()).To(gomega.Succeed())
				done()
			})
			synctest.Wait()
		}
		<-time.After(2 * time.Second)
		g.Expect(first.Rollback()).To(gomega.Succeed())
		done()
		waiting.Wait()
		g.Expect(order).To(gomega.Equal(want))
	})
}
