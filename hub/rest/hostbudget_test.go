package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/test/hub/testhub"
)

// TestBodiesOfOneHostThatDoNotEnd: the other hosts of its infra-env do not notice.
func TestBodiesOfOneHostThatDoNotEnd(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	refused := bodiesWithoutEnd(t, hub, agents[0].Token())
	for range 4 {
		g.Eventually(refused).WithTimeout(time.Minute).Should(Receive(Equal(http.StatusTooManyRequests)))
	}
	inventory := testhub.Inventory(4)
	inventory.CPU.Flags = []string{strings.Repeat("x", 7<<20)}
	code, raw := replyOf(t, agents[1], keys[1], wire.StepTypeInventory, inventory)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
}

// TestEventsOfOneHostWithoutItsName use up its own budget, not that of the others.
func TestEventsOfOneHostWithoutItsName(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	_, agents := twoOwn(t, hub)
	code, raw := 0, ""
	for n := 0; n < 10_000 && code != http.StatusTooManyRequests; n++ {
		code, raw = agents[0].Do(t, http.MethodPost, "/events", seen(nil), nil)
	}
	g.Expect(code).To(Equal(http.StatusTooManyRequests), raw)
	code, raw = agents[1].Do(t, http.MethodPost, "/events", seen(nil), nil)
	g.Expect(code).To(Equal(http.StatusCreated), raw)
}

// TestALongReplyCostsMore of what a host may report: it takes the time of all others.
func TestALongReplyCostsMore(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	inventory := testhub.Inventory(3)
	inventory.CPU.Flags = []string{strings.Repeat("x", 7<<20)}
	code, raw, taken := 0, "", 0
	for ; taken < 200 && code != http.StatusTooManyRequests; taken++ {
		inventory.CPU.Flags[0] = fmt.Sprint(taken) + inventory.CPU.Flags[0][10:]
		code, raw = replyOf(t, agents[0], keys[0], wire.StepTypeInventory, inventory)
	}
	g.Expect(code).To(Equal(http.StatusTooManyRequests), "%.200s", raw)
	g.Expect(taken).To(BeNumerically("<", 60))
	code, raw = replyOf(t, agents[1], keys[1], wire.StepTypeInventory, testhub.Inventory(4))
	g.Expect(code).To(Equal(http.StatusNoContent), "others do not notice: %s", raw)
}
