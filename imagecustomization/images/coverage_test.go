package images

import (
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"
)

// A machine that boots a second time reads its image from the beginning, and that
// is seen as it was the first time.
func TestASecondBootIsReadProgressAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		const size = 100 << 20
		c, tell := newCoverage(size), teller{}
		boot := func() (told int, percent float64) {
			for off := int64(0); off < size*2/5; off += 1 << 20 {
				percent = percentOf(c.add(off, 1<<20), size)
				if tell.due(time.Now(), percent) {
					told++
				}
				<-time.After(time.Second)
			}
			return told, percent
		}
		told, percent := boot()
		g.Expect(percent).To(BeNumerically("~", 40, 0.1))
		<-time.After(readPause / 2)
		g.Expect(c.add(0, 4096)).To(BeNumerically(">=", size*2/5), "a pause of a few minutes is still the same boot")
		<-time.After(readPause + time.Second)
		g.Expect(percentOf(c.bytes(), size)).To(BeNumerically("~", 40, 0.1), "to look is not to read")
		again, percent := boot()
		g.Expect(percent).To(BeNumerically("~", 40, 0.1))
		g.Expect(again).To(Equal(told))
	})
}
