package store

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onsi/gomega"
)

// TestTheLogOfChangesStaysShort also where somebody reads at every moment, and writing goes on while somebody reads for long.
func TestTheLogOfChangesStaysShort(t *testing.T) {
	for name, forLong := range map[string]bool{"many who read": false, "one who reads for long": true} {
		t.Run(name, func(t *testing.T) {
			g := gomega.NewWithT(t)
			path := filepath.Join(t.TempDir(), "records")
			s, err := OpenSQLite(t.Context(), path)
			g.Expect(err).NotTo(gomega.HaveOccurred())
			defer func() { g.Expect(s.Close()).To(gomega.Succeed()) }()
			stop, read := make(chan struct{}), make(chan struct{}, 1)
			var reading sync.WaitGroup
			defer func() { close(stop); reading.Wait() }()
			for range 2 { // each ends only when the other one has begun
				reading.Go(func() {
					for {
						select {
						case <-stop:
							return
						default:
						}
						err := s.View(t.Context(), func(r *Reader) error {
							_, err := r.Clusters(ClusterFilter{})
							if forLong {
								<-stop
								return err
							}
							select {
							case read <- struct{}{}:
							case <-read:
							case <-stop:
							}
							return err
						})
						if err != nil {
							t.Error(err)
						}
					}
				})
			}
			c := &Cluster{}
			c.API.ID = "cccccccc-0000-4000-8000-000000000001"
			const megabytes = 4 * longestLog >> 20
			letter := 0
			write := func() {
				letter++
				c.UISettings = strings.Repeat(string(rune('a'+letter%26)), 1<<20)
				g.Expect(s.Commit(t.Context(), &Unit{Clusters: []*Cluster{c}})).To(gomega.Succeed())
			}
			for range megabytes {
				write()
			}
			if forLong {
				return
			}
			g.Eventually(func() (int64, error) { // on a busy machine, one time may find the readers at work for too long
				write()
				info, err := os.Stat(path + "-wal")
				return info.Size(), err
			}, time.Minute, 100*time.Millisecond).Should(gomega.BeNumerically("<", 2*longestLog))
		})
	}
}
