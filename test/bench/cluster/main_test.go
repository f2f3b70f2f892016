package main

import (
	"testing"

	. "github.com/onsi/gomega"
)

func TestVerdict(t *testing.T) {
	g := NewWithT(t)
	good := figures{Hosts: 500, Image: 20, Resident: 40, RestResident: 30, Requests: 1}
	g.Expect(good.verdict()).To(Succeed())
	large := good
	large.Image, large.Resident, large.Requests = 20.1, 40.1, 1.1
	g.Expect(large.verdict()).To(MatchError(And(
		ContainSubstring("image_mib is 20.1, more than 20"), ContainSubstring("rss_mib is 40.1, more than 40"), ContainSubstring("rest_requests_per_min is 1.1, more than 1"))))
}

// TestAHostIsAsLargeAsReal ones, and the hub tells it from all others.
func TestAHostIsAsLargeAsReal(t *testing.T) {
	g := NewWithT(t)
	g.Expect(len(hostOf(0).Inventory)).To(BeNumerically(">=", inventoryBytes))
	g.Expect(hostOf(0).ID).NotTo(Equal(hostOf(499).ID))
	g.Expect(hostOf(499).Inventory).To(ContainSubstring(address(499)))
}
