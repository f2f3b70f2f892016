package schedule

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
)

func TestStartLimiter(t *testing.T) {
	g := NewWithT(t)
	key := func(n int) types.NamespacedName {
		return types.NamespacedName{Namespace: "metal", Name: fmt.Sprint(n)}
	}
	l := newStartLimiter(2)
	for n := range 10 {
		_, now := l.start(key(n), "")
		g.Expect(now).To(BeTrue(), "nobody waits whom nobody would wake")
	}
	var woken []types.NamespacedName
	l.open(func(key types.NamespacedName) { woken = append(woken, key) })

	first, now := l.start(key(0), "")
	g.Expect(now).To(BeTrue())
	second, now := l.start(key(1), "")
	g.Expect(now).To(BeTrue())
	for range 3 { // woken again while it waits
		for n := 2; n < 5; n++ {
			_, now = l.start(key(n), "")
			g.Expect(now).To(BeFalse(), "host %d", n)
		}
	}

	l.hurry(key(4))
	done, now := l.start(key(4), "")
	g.Expect(now).To(BeTrue(), "an urgent host passes")
	done()
	g.Expect(woken).To(BeEmpty(), "it held no place")
	_, now = l.start(key(4), "")
	g.Expect(now).To(BeFalse(), "it passes once")

	first()
	g.Expect(woken).To(Equal([]types.NamespacedName{key(2)}), "first come, first served")
	_, now = l.start(key(5), "")
	g.Expect(now).To(BeFalse(), "the place is kept for who was woken")
	third, now := l.start(key(2), "")
	g.Expect(now).To(BeTrue())

	second()
	third()
	g.Expect(woken).To(Equal([]types.NamespacedName{key(2), key(3), key(4)}))
	l.hurry(key(3))
	for n := 3; n < 5; n++ {
		done, now = l.start(key(n), "")
		g.Expect(now).To(BeTrue())
		done()
	}
	g.Expect(woken).To(Equal([]types.NamespacedName{key(2), key(3), key(4), key(5)}), "also if it has become urgent, it gives its place back")
	done, now = l.start(key(5), "")
	g.Expect(now).To(BeTrue())
	done()
	g.Expect(l.lines[""].places).To(Equal(2), "no place is lost")
	g.Expect(l.lines[""].hosts).To(BeEmpty())
	g.Expect(l.waiting).To(BeEmpty())
	g.Expect(l.urgent).To(BeEmpty())
}

// TestAHostMovesToAnotherIronic moves one host while it is in line, and one when its turn
// has come: that one gives back the place that it has got.
func TestAHostMovesToAnotherIronic(t *testing.T) {
	g := NewWithT(t)
	l := newStartLimiter(1)
	var woken []string
	l.open(func(key types.NamespacedName) { woken = append(woken, key.Name) })
	start := func(name, ironic string) (done func(), now bool) {
		return l.start(types.NamespacedName{Namespace: "metal", Name: name}, ironic)
	}
	east, now := start("first of east", "east")
	g.Expect(now).To(BeTrue())
	west, now := start("first of west", "west")
	g.Expect(now).To(BeTrue(), "an Ironic has places of its own")
	for _, name := range []string{"moves in line", "moves in its turn", "last of east"} {
		_, now = start(name, "east")
		g.Expect(now).To(BeFalse())
	}
	_, now = start("moves in line", "west")
	g.Expect(now).To(BeFalse())

	east()
	g.Expect(woken).To(Equal([]string{"moves in its turn"}))
	moved, now := start("moves in its turn", "west")
	g.Expect(now).To(BeTrue())
	moved()
	g.Expect(woken).To(Equal([]string{"moves in its turn", "last of east"}))
	west()
	g.Expect(woken).To(Equal([]string{"moves in its turn", "last of east", "moves in line"}))
	for name, ironic := range map[string]string{"last of east": "east", "moves in line": "west"} {
		done, now := start(name, ironic)
		g.Expect(now).To(BeTrue(), name)
		done()
		g.Expect(l.lines[ironic].places).To(Equal(1), "no place is lost")
	}
	g.Expect(l.waiting).To(BeEmpty())
}
