package preflight_test

import (
	"testing"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/preflight"
)

// TestBounds: sizes are of use where a rule could refuse them, and nowhere else.
func TestBounds(t *testing.T) {
	row := []v1alpha1.AppliedQuirk{{ID: "site", Effect: "image-size", Value: "1"}}
	for name, c := range map[string]struct {
		boot           preflight.BootKind
		report         *v1alpha1.BMCReport
		live, firmware bool
	}{
		"no report":              {boot: preflight.VirtualMedia},
		"no bound":               {boot: preflight.VirtualMedia, report: &v1alpha1.BMCReport{}},
		"a row of the site":      {boot: preflight.VirtualMedia, report: &v1alpha1.BMCReport{Quirks: row}, live: true},
		"boot over the network":  {boot: preflight.Network, report: &v1alpha1.BMCReport{Quirks: row}},
		"what the BMC says":      {boot: preflight.Network, report: &v1alpha1.BMCReport{MaxImageBytes: 1 << 20}, firmware: true},
		"a row and what it says": {boot: preflight.VirtualMedia, report: &v1alpha1.BMCReport{Quirks: row, MaxImageBytes: 1 << 20}, live: true, firmware: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			w := preflight.Wishes{
				Address: preflight.Address{Scheme: "redfish-virtualmedia", Boot: c.boot, Redfish: true},
				LiveISO: preflight.LiveImage{Scheme: "https"}, Updates: []preflight.Update{{Component: "bios", URL: "https://192.0.2.9/bios"}},
			}
			live, firmware := preflight.Bounds(w, c.report)
			g.Expect(live).To(Equal(c.live))
			g.Expect(firmware).To(Equal(c.firmware))
			g.Expect(preflight.TooLarge(preflight.Check(w, c.report, nil, nil))).To(BeFalse(), "nothing is known of them")
			w.LiveISO.Bytes, w.Updates[0].Bytes = 2<<20, 2<<20
			g.Expect(preflight.TooLarge(preflight.Check(w, c.report, nil, nil))).To(Equal(live || firmware))
		})
	}
}

// TestRefused: each refusal leads back to the image that it is about.
func TestRefused(t *testing.T) {
	w := preflight.Wishes{
		Address:   preflight.Address{Scheme: "redfish-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		LiveImage: preflight.LiveImageAt("https://192.0.2.9/a", 2<<20), LiveISO: preflight.LiveImageAt("https://192.0.2.9/b", 2<<20),
		Updates: []preflight.Update{{Component: "bmc", URL: "https://192.0.2.9/small", Bytes: 1}, {Component: "bios", URL: "https://192.0.2.9/c", Bytes: 2 << 20}},
	}
	report := &v1alpha1.BMCReport{Quirks: []v1alpha1.AppliedQuirk{{ID: "site", Effect: "image-size", Value: "1"}}, MaxImageBytes: 1 << 20}
	g := NewWithT(t)
	g.Expect(preflight.Refused(w, preflight.Check(w, report, nil, nil))).To(ConsistOf("https://192.0.2.9/a", "https://192.0.2.9/b", "https://192.0.2.9/c"))
	g.Expect(preflight.Refused(w, []v1alpha1.Mismatch{{Field: "spec.updates[7].url", Reason: preflight.ReasonUpdateSize}, {Reason: preflight.ReasonRAIDLevel}})).To(BeEmpty())
}

// TestAnImageThatIsALittleTooLarge: a person sees two numbers that differ.
func TestAnImageThatIsALittleTooLarge(t *testing.T) {
	w := preflight.Wishes{
		Address: preflight.Address{Scheme: "redfish-virtualmedia", Boot: preflight.VirtualMedia, Redfish: true},
		LiveISO: preflight.LiveImageAt("https://192.0.2.9/b", 1<<30+1), Updates: []preflight.Update{{Component: "bios", URL: "https://192.0.2.9/c", Bytes: 1<<20 + 512}},
	}
	report := &v1alpha1.BMCReport{Quirks: []v1alpha1.AppliedQuirk{{ID: "site", Effect: "image-size", Value: "1024"}}, MaxImageBytes: 1 << 20}
	NewWithT(t).Expect(preflight.Check(w, report, nil, nil)).To(ConsistOf(
		HaveField("Message", ContainSubstring("has 1073741825 bytes, and virtual media of this BMC take 1073741824 bytes")),
		HaveField("Message", ContainSubstring("has 1049088 bytes, and the BMC takes 1048576 bytes")),
	))
}
