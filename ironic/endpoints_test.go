package ironic_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/ironic"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

func TestEndpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := NewWithT(t)
		set := ironic.NewEndpoints()
		_, err := set.Assign()
		e.Expect(err).To(MatchError(ironic.ErrUnknownEndpoint))
		servers := map[string]*simulator.Server{}
		for _, name := range []string{"west", "east"} {
			s := simulator.New(simulator.Options{})
			t.Cleanup(s.Close)
			g, err := ironic.New(t.Context(), ironic.Config{Name: name, URL: "http://" + name + ".test", Transport: s.Transport()})
			e.Expect(err).NotTo(HaveOccurred())
			_, err = set.Add(g, ironic.WatchOptions{})
			e.Expect(err).NotTo(HaveOccurred())
			_, err = set.Add(g, ironic.WatchOptions{})
			e.Expect(err).To(MatchError(ContainSubstring(`two Ironic endpoints named "` + name)))
			servers[name] = s
		}
		east, err := set.Get("east")
		e.Expect(err).NotTo(HaveOccurred())
		_, err = set.Get("north")
		e.Expect(err).To(MatchError(And(ContainSubstring(`"north"`), ContainSubstring("east, west"))))
		_, err = set.Get("")
		e.Expect(err).To(MatchError(ironic.ErrUnknownEndpoint), "two, and none is the default")
		for i := range 3 {
			enrol(t, east.Gateway, fmt.Sprint("ns~h", i))
		}
		_, err = set.Assign()
		e.Expect(ironic.KindOf(err)).To(Equal(ironic.Unavailable), "nobody has been heard of yet")

		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		all.Go(func() { _ = set.Run(ctx) })
		var first ironic.EndpointChange
		all.Go(func() {
			first = <-set.Changes()
			for {
				select {
				case <-set.Changes():
				case <-ctx.Done():
					return
				}
			}
		})
		pass(time.Minute)
		synctest.Wait()
		e.Expect(first.Endpoint).To(Equal("east"))
		e.Expect(first.Kind).To(Equal(ironic.Appeared))
		chosen, err := set.Assign()
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(chosen.Name()).To(Equal("west"), "it has fewer nodes")
		servers["west"].Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Cut: true} })
		pass(time.Minute)
		chosen, err = set.Assign()
		e.Expect(err).NotTo(HaveOccurred())
		e.Expect(chosen.Name()).To(Equal("east"), "the other one does not answer")
	})
}
