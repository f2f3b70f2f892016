package garbage

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

func TestALargeHeapGrowsByLess(t *testing.T) {
	g := NewWithT(t)
	const mib = 1 << 20
	g.Expect(allowed(0)).To(Equal(mostGarbage))
	g.Expect(allowed(40*mib)).To(Equal(mostGarbage), "a thousand hosts")
	g.Expect(allowed(256*mib)).To(Equal(mostGarbage/2), "ten thousand: four times the heap, twice the garbage")
	g.Expect(allowed(1<<40)).To(Equal(leastGarbage), "it is not collected without end")
	most := uint64(0)
	for live := uint64(mib); live < 1<<36; live += live / 8 {
		whole := live + live*uint64(allowed(live))/100
		g.Expect(whole).To(BeNumerically(">", most), "more in use never means a smaller heap")
		most = whole
	}
}

func TestTheHeapIsWeighed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var live atomic.Uint64
		set := make(chan int, 10)
		go weigh(t.Context(), live.Load, func(percent int) { set <- percent })
		g.Expect(<-set).To(Equal(mostGarbage), "at once")
		live.Store(4 * smallHeap)
		g.Expect(<-set).To(Equal(mostGarbage / 2))
		live.Store(0)
		g.Expect(<-set).To(Equal(mostGarbage))
		<-time.After(5 * weighEvery)
		g.Expect(set).To(BeEmpty(), "what stays is not set again")
	})
}

func TestWhatIsInUseIsKnown(t *testing.T) {
	g := NewWithT(t)
	held := make([]byte, 2*smallHeap)
	runtime.GC()
	g.Expect(liveHeap()).To(BeNumerically(">=", len(held)))
	runtime.KeepAlive(held)
}
