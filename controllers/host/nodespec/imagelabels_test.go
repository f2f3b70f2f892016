package nodespec

import (
	"strings"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
)

// TestWhatAnImageWasHandedOutFor walks through histories of a host's label ("env-1", "" for none) and of the address that
// its image offers ("@1" when it is handed out), and asks whether the image is for the host's InfraEnv at the end.
func TestWhatAnImageWasHandedOutFor(t *testing.T) {
	for history, want := range map[string]bool{
		"env-1 @1":                         true,
		"env-1 @1 env-2":                   false,
		"env-1 @1 env-2 @2":                true,
		"env-1 @1 env-2 env-1":             true, // nobody has built anything in between
		"env-1 @1 env-2 env-3":             false,
		"env-1 @1 env-2 @2 env-1":          false,
		"env-1 @1 env-2 @2 env-1 @1":       true,
		"env-1 @1 env-2 @2 env-3 @3 env-2": false,
		"none @0 env-1":                    false,
		"none @0 env-1 @1":                 true,
		"env-1 @1 none":                    false,
		"env-1 @1 none @0":                 true,
		"env-1 env-2 @2":                   true, // nothing was handed out before
		"env-1 @1 env-2 @":                 true, // an address that was taken back is nobody's
	} {
		t.Run(history, func(t *testing.T) {
			g := NewWithT(t)
			h, image := &metal3.BareMetalHost{}, &metal3.PreprovisioningImage{}
			for word := range strings.FieldsSeq(history) {
				if address, is := strings.CutPrefix(word, "@"); is {
					image.Status.ImageUrl = address
					continue
				}
				h.Labels = map[string]string{"rack": "r1", names.InfraEnvLabel: word}
				if word == "none" {
					delete(h.Labels, names.InfraEnvLabel)
				}
				before := image.DeepCopy()
				g.Expect(CopyLabels(h, image)).To(BeTrue())
				g.Expect(before.Labels[names.InfraEnvLabel] != "" && ForItsInfraEnv(h, before)).To(BeFalse(), "before the labels are copied")
			}
			g.Expect(ForItsInfraEnv(h, image)).To(Equal(want))
		})
	}
}

// TestAnotherLabelLeavesTheImageAsItIs: what an image holds follows the InfraEnv, not the other labels.
func TestAnotherLabelLeavesTheImageAsItIs(t *testing.T) {
	g := NewWithT(t)
	h := &metal3.BareMetalHost{}
	h.Labels = map[string]string{names.InfraEnvLabel: "env-1"}
	image := &metal3.PreprovisioningImage{}
	CopyLabels(h, image)
	image.Status.ImageUrl = "http://images.test/1.iso"
	h.Labels["rack"] = "r2"
	g.Expect(CopyLabels(h, image)).To(BeTrue())
	g.Expect(ForItsInfraEnv(h, image)).To(BeTrue())
	g.Expect(image.Annotations).NotTo(HaveKey(names.HandedOutFor))
}
