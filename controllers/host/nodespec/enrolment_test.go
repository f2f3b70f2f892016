package nodespec

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"

	"k8s.io/apimachinery/pkg/types"
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
