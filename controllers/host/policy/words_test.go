package policy

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/ironic"
)

// An image's address may carry the credentials of its server; events and errors
// are read by more people than the spec.
func TestCredentialsOfAnImageStayOutOfWords(t *testing.T) {
	const address = "https://bob:builder@images.test/os.raw"
	method := &metal3.CustomDeploy{Method: "install"}
	for name, c := range map[string]struct {
		custom *metal3.CustomDeploy
		say    func(*Observed) string
		want   string
	}{
		"event":                    {say: func(o *Observed) string { return nodespec.Wanted(o.Host).String() }, want: "https://[redacted]@images.test/os.raw"},
		"event of a custom method": {custom: method, say: func(o *Observed) string { return nodespec.Wanted(o.Host).String() }, want: "install with https://[redacted]@images.test/os.raw"},
		"error": {
			say:  func(o *Observed) string { return deployFailure(o, "no space") },
			want: "Image provisioning failed (url: https://[redacted]@images.test/os.raw, checksum: https://[redacted]@images.test/sums): no space",
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := observed(metal3.StateProvisioning, ironic.StateDeployFailed)
			o.Host.Spec.CustomDeploy = c.custom
			o.Host.Spec.Image = &metal3.Image{URL: address, Checksum: "https://bob:builder@images.test/sums"}
			NewWithT(t).Expect(c.say(o)).To(Equal(c.want))
		})
	}
}

// TestAnImageWithoutAChecksum says nothing of checksums where an image has none.
func TestAnImageWithoutAChecksum(t *testing.T) {
	o := observed(metal3.StateProvisioning, ironic.StateDeployFailed)
	o.Host.Spec.Image = &metal3.Image{URL: "oci://registry.test/os:1"}
	NewWithT(t).Expect(deployFailure(o, "no space left")).To(Equal("Image provisioning failed (url: oci://registry.test/os:1): no space left"))
}

// TestStalledSaysWhetherItIsTriedAgain: an error that ends when its cause does has no next attempt to wait for.
func TestStalledSaysWhetherItIsTriedAgain(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Status.ErrorMessage, h.Status.ErrorCount = "it is so", 1
	for _, cause := range []string{causeDouble, causeUndeployed, causeOther, causeMoved, causeBaseline, causeUnproven, causeElsewhere, causeEndpoint, causeRestore} {
		g.Expect(stalledText(h, cause, noon)).To(And(ContainSubstring("it goes on by itself when that is fixed"), Not(ContainSubstring("tried again at"))), cause)
	}
	g.Expect(stalledText(h, "ProvisioningError", noon)).To(ContainSubstring("it is tried again at 20"))
	g.Expect(stalledText(h, causeGivenUp, noon)).To(ContainSubstring("it is not tried again by itself"))
}
