package host

import (
	"fmt"
	"testing"

	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"
)

func TestGate(t *testing.T) {
	g := NewWithT(t)
	key := func(n int) types.NamespacedName {
		return types.NamespacedName{Namespace: "metal", Name: fmt.Sprint(n)}
	}
	e := newGate(2)
	for n := range 10 {
		leave, now := e.enter(key(n))
		g.Expect(now).To(BeTrue(), "nobody is kept out that nobody would wake")
		g.Expect(leave).To(BeNil())
	}
	var woken []types.NamespacedName
	e.open(func(key types.NamespacedName) { woken = append(woken, key) })

	first, now := e.enter(key(0))
	g.Expect(now).To(BeTrue())
	second, now := e.enter(key(1))
	g.Expect(now).To(BeTrue())
	for range 3 { // woken again while it waits
		for n := 2; n < 5; n++ {
			_, now = e.enter(key(n))
			g.Expect(now).To(BeFalse(), "host %d", n)
		}
	}

	e.call(key(4))
	leave, now := e.enter(key(4))
	g.Expect(now).To(BeTrue(), "who is called for passes by")
	g.Expect(leave).To(BeNil())
	_, now = e.enter(key(4))
	g.Expect(now).To(BeFalse(), "once")

	first()
	g.Expect(woken).To(Equal([]types.NamespacedName{key(2)}), "first come, first served")
	_, now = e.enter(key(5))
	g.Expect(now).To(BeFalse(), "the place is kept for who was woken")
	third, now := e.enter(key(2))
	g.Expect(now).To(BeTrue())

	second()
	third()
	g.Expect(woken).To(Equal([]types.NamespacedName{key(2), key(3), key(4)}))
	for n := 3; n < 5; n++ {
		leave, now = e.enter(key(n))
		g.Expect(now).To(BeTrue())
		leave()
	}
	g.Expect(woken).To(HaveLen(4))
	leave, now = e.enter(key(5))
	g.Expect(now).To(BeTrue())
	leave()
	g.Expect(e.places).To(Equal(2), "nothing is lost")
	g.Expect(e.line).To(BeEmpty())
	g.Expect(e.waiting).To(BeEmpty())
	g.Expect(e.letIn).To(BeEmpty())
}

// TestPlaceOfAnotherGate gives a place to a host that does not come for it.
func TestPlaceOfAnotherGate(t *testing.T) {
	g := NewWithT(t)
	key := func(n int) types.NamespacedName {
		return types.NamespacedName{Namespace: "metal", Name: fmt.Sprint(n)}
	}
	e := newGate(1)
	var woken []types.NamespacedName
	e.open(func(key types.NamespacedName) { woken = append(woken, key) })
	leave, _ := e.enter(key(0))
	for n := 1; n < 3; n++ {
		_, now := e.enter(key(n))
		g.Expect(now).To(BeFalse())
	}
	e.yield(key(1))
	g.Expect(woken).To(BeEmpty(), "it has no place yet")
	leave()
	g.Expect(woken).To(Equal([]types.NamespacedName{key(1)}))
	e.yield(key(1))
	e.yield(key(1))
	g.Expect(woken).To(Equal([]types.NamespacedName{key(1), key(2)}), "once")
	leave, now := e.enter(key(2))
	g.Expect(now).To(BeTrue())
	leave()
	_, now = e.enter(key(1))
	g.Expect(now).To(BeTrue())
}
