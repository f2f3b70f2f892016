package deadlines

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/store"
)

// TestScheduleIsInOrder: random changes, against a list that is searched each time.
func TestScheduleIsInOrder(t *testing.T) {
	g := NewWithT(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	var s schedule
	want := map[store.Ref]time.Time{}
	moment := func() time.Time { return time.Unix(int64(1+random.IntN(1000)), 0) }
	for range 5000 {
		ref := store.Ref{Kind: store.KindHost, ID: fmt.Sprint(random.IntN(60))}
		switch random.IntN(4) {
		case 0:
			s.set(store.Deadline{Of: ref}, time.Time{})
			delete(want, ref)
		case 1, 2:
			at := moment()
			s.set(store.Deadline{Of: ref}, at)
			want[ref] = at
		case 3:
			now := moment()
			last := time.Time{}
			for {
				d, ok := s.take(now)
				if !ok {
					break
				}
				g.Expect(want[d.Of]).NotTo(BeTemporally(">", now))
				g.Expect(want[d.Of]).NotTo(BeTemporally("<", last))
				last = want[d.Of]
				delete(want, d.Of)
			}
			for _, at := range want {
				g.Expect(at).To(BeTemporally(">", now))
			}
		}
		g.Expect(s.entries).To(HaveLen(len(want)))
		g.Expect(s.known).To(HaveLen(len(want)))
	}
}
