package nodespec

import (
	"slices"
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/ironic"
)

// TestEnrolmentID names one id for one enrolment, however often it is made, and another
// one for a node that follows one that is gone, or that is another host's.
func TestEnrolmentID(t *testing.T) {
	g := NewWithT(t)
	id := func(uid, had string) string {
		h := &metal3.BareMetalHost{}
		h.UID, h.Status.Provisioning.ID = types.UID(uid), had
		return EnrolmentID(h)
	}
	g.Expect(id("a", "")).To(Equal(id("a", "")))
	g.Expect(id("a", "")).NotTo(Equal(id("b", "")))
	g.Expect(id("a", "")).NotTo(Equal(id("a", id("a", ""))))
	g.Expect(EnrolmentID(&metal3.BareMetalHost{})).To(BeEmpty(), "nothing tells it from another")
}

// TestANodeKeepsWhichMachineItIsOf: it is found by whoever has the same BMC, and by nobody else.
func TestANodeKeepsWhichMachineItIsOf(t *testing.T) {
	const own = "redfish-virtualmedia://bmc.test/redfish/v1/Systems/1"
	for address, same := range map[string]bool{
		own: true, "redfish://BMC.test:443/redfish/v1/Systems/1/": true, "ipmi://bmc.test": true,
		"redfish://bmc.test/redfish/v1/Systems/2": false, "redfish://bmc.test:8000/redfish/v1/Systems/1": false, "ipmi://bmc.test:6230": false, "": false,
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			node, other := &metal3.BareMetalHost{}, &metal3.BareMetalHost{}
			node.Spec.BMC.Address, other.Spec.BMC.Address = own, address
			kept, is := Enrolment(Input{Host: node}).Extra[ironic.KeyMachine].(string)
			g.Expect(is).To(BeTrue())
			found := slices.ContainsFunc(SameBMCKeys(other), func(key string) bool { return slices.Contains(strings.Split(kept, "\n"), key) })
			g.Expect(found).To(Equal(same))
		})
	}
}
