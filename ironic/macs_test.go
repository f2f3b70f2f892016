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

// TestManyQuestionsForMACsAreFewRequests looks for a fleet's addresses: free ones,
// one that another node has, and one that was given away since the list was read.
func TestManyQuestionsForMACsAreFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		gateway, s := newGateway(t, simulator.Options{MaxLimit: 10})
		mac := func(i int) string { return fmt.Sprintf("52:54:00:00:00:%02X", i) }
		for i := range 25 {
			n, err := gateway.Enrol(t.Context(), ironic.Enrolment{Name: fmt.Sprintf("ns~old-%d", i), Driver: "redfish"})
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(i), PXEEnabled: true}})).Error().NotTo(HaveOccurred())
		}
		find := func(i int) error {
			_, err := gateway.Find(t.Context(), ironic.Identity{Name: fmt.Sprintf("ns~new-%d", i), BootMAC: mac(i), Unknown: true})
			return err
		}
		s.ResetCounts()
		g.Expect(find(30)).To(MatchError(ironic.ErrNotFound))
		g.Expect(s.Counts()["GET /v1/ports"]).To(Equal(1), "a single host is looked for by itself")
		for i := 31; i < 100; i++ {
			g.Expect(find(i)).To(MatchError(ironic.ErrNotFound))
		}
		g.Expect(s.Counts()["GET /v1/ports"]).To(BeNumerically("<", 12), "69 more are a few questions and three pages")
		g.Expect(find(24)).To(MatchError(ContainSubstring("ns~old-24")), "on the last page")

		n, err := gateway.Enrol(t.Context(), ironic.Enrolment{Name: "ns~new-50", Driver: "redfish"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(50)}})).Error().NotTo(HaveOccurred())
		_, err = gateway.Find(t.Context(), ironic.Identity{Name: "ns~twin", BootMAC: mac(50), Unknown: true})
		g.Expect(err).To(MatchError(ContainSubstring("ns~new-50")), "ports of our own are known at once")

		s.ResetCounts()
		<-time.After(10 * time.Second)
		g.Expect(find(99)).To(MatchError(ironic.ErrNotFound))
		g.Expect(s.Counts()["GET /v1/ports"]).To(Equal(1), "a list does not answer for ever")
	})
}

// TestAListOfPortsThatHangsHoldsNobodyLonger has a fleet looked for by its addresses while
// Ironic does not answer: all of it is told when one request has taken too long, and
// whoever does not want to wait is let go.
func TestAListOfPortsThatHangsHoldsNobodyLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		gateway, s := newGateway(t, simulator.Options{})
		find := func(ctx context.Context, i int) error {
			_, err := gateway.Find(ctx, ironic.Identity{Name: fmt.Sprintf("ns~new-%d", i), BootMAC: fmt.Sprintf("52:54:00:00:00:%02X", i), Unknown: true})
			return err
		}
		g.Expect(find(t.Context(), 0)).To(MatchError(ironic.ErrNotFound))
		s.Intercept(func(*http.Request) *simulator.Fault { return &simulator.Fault{Delay: time.Hour} })
		begin := time.Now()
		var asking sync.WaitGroup
		for i := 1; i <= 20; i++ {
			asking.Go(func() {
				g.Expect(ironic.KindOf(find(t.Context(), i))).To(Equal(ironic.Unavailable))
				g.Expect(time.Since(begin)).To(Equal(ironic.DefaultTimeout))
			})
		}
		asking.Go(func() {
			synctest.Wait() // for all others to wait
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			g.Expect(ironic.KindOf(find(ctx, 21))).To(Equal(ironic.Unavailable))
			g.Expect(time.Since(begin)).To(Equal(time.Second))
		})
		asking.Wait()
	})
}

// lateLists delivers lists of all ports two seconds after they were made.
type lateLists struct{ http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (l lateLists) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := l.RoundTripper.RoundTrip(r)
	if r.URL.Path == "/v1/ports" && r.URL.Query().Has("limit") {
		<-time.After(2 * time.Second)
	}
	return answer, err
}

// TestPortsOfOursAreInAListThatIsRead creates a port and removes one while a list of all
// is on its way that shows neither.
func TestPortsOfOursAreInAListThatIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		s := simulator.New(simulator.Options{})
		t.Cleanup(s.Close)
		gateway, err := ironic.New(t.Context(), ironic.Config{URL: "http://ironic.test", Transport: lateLists{s.Transport()}})
		g.Expect(err).NotTo(HaveOccurred())
		mac := func(i int) string { return fmt.Sprintf("52:54:00:00:00:%02X", i) }
		find := func(i int) error {
			_, err := gateway.Find(t.Context(), ironic.Identity{Name: "ns~new", BootMAC: mac(i), Unknown: true})
			return err
		}
		n, err := gateway.Enrol(t.Context(), ironic.Enrolment{Name: "ns~ours", Driver: "redfish"})
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(90)}})).Error().NotTo(HaveOccurred())
		for i := range 4 {
			g.Expect(find(i)).To(MatchError(ironic.ErrNotFound))
		}
		var asking sync.WaitGroup
		asking.Go(func() { g.Expect(find(5)).To(MatchError(ironic.ErrNotFound)) })
		<-time.After(time.Second)
		g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(91)}})).Error().NotTo(HaveOccurred())
		g.Expect(gateway.RemovePorts(t.Context(), n.UUID, []string{mac(90)})).To(Succeed())
		asking.Wait()
		s.ResetCounts()
		g.Expect(find(91)).To(MatchError(ContainSubstring("ns~ours")))
		g.Expect(find(90)).To(MatchError(ironic.ErrNotFound))
		g.Expect(s.Counts()).NotTo(HaveKey("GET /v1/ports"), "the list has answered")
	})
}
