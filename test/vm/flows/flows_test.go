//go:build machine

package flows

import "testing"

// TestFlows are the flows, one after another: each machine takes most of the
// memory and of the processors that a small computer has.
func TestFlows(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct {
		name string
		run  func(f *flow)
	}{
		{"there and back", thereAndBack},
		{"survives", survives},
		{"power cut", powerCut},
		{"disk fails", diskFails},
		{"restarted", restarted},
		{"medium gone", mediumGone},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(newFlow(t, w)) })
	}
}

// TestInstalled is the way there alone, for CI and for a site's own live ISO.
func TestInstalled(t *testing.T) { installed(newFlow(t, newWorld(t))) }
