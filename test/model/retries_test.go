package model

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
)

// mostAttempts is how often Ironic may be asked for something in 48 hours in which all
// fails: a back-off of 2^n minutes up to 512 leaves 14 failures, each of a few requests.
const mostAttempts = 36

// TestRetriesAreBounded has all fail that Ironic does, while others change what a host
// is not about.
func TestRetriesAreBounded(t *testing.T) {
	for _, s := range ofOne() {
		for _, n := range noises {
			t.Run(s.Name+" with "+n.name, func(t *testing.T) {
				g := NewWithT(t)
				r, err := newRun()
				g.Expect(err).NotTo(HaveOccurred())
				w := s.begin(r, 0, 0)
				w.edit("a", func(h *metal3.BareMetalHost) { h.Spec.Image = image("B") })
				r.toRest(w)
				count := r.failing(w, "a", n)
				t.Logf("%d requests", count)
				if w.broken != "" {
					expectKnown(t, Counterexample{Scenario: s.Name, Broken: w.broken, Steps: []string{"image B for a"}})
				}
				g.Expect(count).To(BeNumerically("<=", mostAttempts))
			})
		}
	}
}
