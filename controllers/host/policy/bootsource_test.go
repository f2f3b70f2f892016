package policy

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestBootHint(t *testing.T) {
	begin := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	const timeout = "Timeout reached while inspecting the node."
	for name, tc := range map[string]struct {
		reason string
		read   ImageRead
		want   string
	}{
		"a machine that never booted":         {timeout, ImageRead{Known: true}, "has not read the live image"},
		"what was read before does not count": {timeout, ImageRead{Known: true, Percent: 100, Last: begin.Add(-time.Hour)}, "has not read the live image"},
		"a read that broke off":               {timeout, ImageRead{Known: true, Percent: 38, Last: begin.Add(7 * time.Second)}, "38 % of the live image, the last time at 12:00:07"},
		"a live system that says nothing":     {timeout, ImageRead{Known: true, Percent: 100, Last: begin.Add(time.Minute)}, "look at the machine's console"},
		"another reason stands for itself":    {"disk sda: write error", ImageRead{Known: true}, ""},
		"nobody looked":                       {timeout, ImageRead{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			h.Status.Provisioning.State = metal3.StateInspecting
			h.Status.OperationHistory.Inspect.Start = metav1.NewTime(begin)
			hint := bootHint(&Observed{Host: h, Read: tc.read}, tc.reason)
			if tc.want == "" {
				g.Expect(hint).To(BeEmpty())
				return
			}
			g.Expect(hint).To(ContainSubstring(tc.want))
		})
	}
}
