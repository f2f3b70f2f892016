package rest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/hub/rest"
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

// TestAnnouncedBodiesOfOneHost: what a host with a token of its own announces counts before it is sent, and no longer once it has
// gone away. The other hosts of its infra-env do not notice.
func TestAnnouncedBodiesOfOneHost(t *testing.T) {
	g := NewWithT(t)
	hub := testhub.Start(t, testhub.Options{})
	keys, agents := twoOwn(t, hub)
	ctx, leave := context.WithCancel(t.Context())
	begin := func() <-chan int {
		code := make(chan int, 1)
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, hub.URL+rest.Base+"/v2/events", nothingComes{ctx})
		req.ContentLength = 15 << 20
		req.Header.Set(wire.HeaderAgentToken, agents[0].Token())
		go func() {
			answer, err := hub.Client().Do(req)
			if err == nil {
				_ = answer.Body.Close()
				code <- answer.StatusCode
			}
		}()
		return code
	}
	first, second := begin(), begin()
	var refused int
	g.Eventually(func() int {
		select {
		case refused = <-first:
		case refused = <-second:
		default:
		}
		return refused
	}).WithTimeout(time.Minute).Should(Equal(http.StatusTooManyRequests))
	inventory := testhub.Inventory(4)
	inventory.CPU.Flags = []string{strings.Repeat("x", 7<<20)}
	code, raw := replyOf(t, agents[1], keys[1], wire.StepTypeInventory, inventory)
	g.Expect(code).To(Equal(http.StatusNoContent), raw)
	leave()
	g.Eventually(func() int {
		code, _ := replyOf(t, agents[0], keys[0], wire.StepTypeInventory, inventory)
		return code
	}).WithTimeout(time.Minute).Should(Equal(http.StatusNoContent))
}

// nothingComes is a body of which nothing comes until the context ends.
type nothingComes struct{ until context.Context }

func (n nothingComes) Read([]byte) (int, error) {
	<-n.until.Done()
	return 0, io.ErrUnexpectedEOF
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
