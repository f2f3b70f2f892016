package image

import (
	"strings"
	"testing"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
)

// The API server refuses a status with a longer message: nobody would see why there is no image.
func TestAMessageHasRoomInItsCondition(t *testing.T) {
	g := NewWithT(t)
	image := &metal3v1.PreprovisioningImage{}
	refused(image, &Refusal{Error: true, Reason: ReasonBuildInvalid, Message: "config: " + strings.Repeat("é", 20000)})
	g.Expect(image.Status.Conditions).To(HaveLen(2))
	for _, c := range image.Status.Conditions {
		g.Expect(c.Message).To(HavePrefix("config: é"))
		g.Expect(len(c.Message)).To(BeNumerically("<=", 32768))
	}
}
