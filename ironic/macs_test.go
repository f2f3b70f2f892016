package ironic_test

import (
	"fmt"
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
			g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(i), PXEEnabled: true}})).To(Succeed())
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
		g.Expect(gateway.AddPorts(t.Context(), n.UUID, []ironic.Port{{MAC: mac(50)}})).To(Succeed())
		_, err = gateway.Find(t.Context(), ironic.Identity{Name: "ns~twin", BootMAC: mac(50), Unknown: true})
		g.Expect(err).To(MatchError(ContainSubstring("ns~new-50")), "ports of our own are known at once")

		s.ResetCounts()
		<-time.After(10 * time.Second)
		g.Expect(find(99)).To(MatchError(ironic.ErrNotFound))
		g.Expect(s.Counts()["GET /v1/ports"]).To(Equal(1), "a list does not answer for ever")
	})
}
