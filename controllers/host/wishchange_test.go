package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
)

// TestWishThatChangesInMidDeployment: a host shows what was deployed on it, whatever
// its spec says by then, and is then given back and deployed as it says now.
func TestWishThatChangesInMidDeployment(t *testing.T) {
	iso, other := "live-iso", "raw"
	liveISO := func(h *metal3.BareMetalHost) {
		h.Spec.Image = &metal3.Image{URL: "http://images/live.iso", DiskFormat: &iso}
	}
	disk := func(h *metal3.BareMetalHost) {
		h.Spec.Image = &metal3.Image{URL: "http://images/disk.raw", DiskFormat: &other, Checksum: "abc", ChecksumType: metal3.SHA256}
	}
	for name, c := range map[string]struct {
		first, then func(*metal3.BareMetalHost)
		image       string
		method      string
	}{
		"a custom method is added to a live ISO": {first: liveISO, then: wantInstall, image: "http://images/live.iso"},
		"a custom method is added to an image":   {first: disk, then: wantInstall, image: "http://images/disk.raw"},
		"an image is added to a custom method":   {first: wantInstall, then: disk, method: names.StartAssistedInstall},
		"another image":                          {first: liveISO, then: disk, image: "http://images/live.iso"},
		"a custom method is removed": {first: func(h *metal3.BareMetalHost) {
			disk(h)
			wantInstall(h)
		}, then: func(h *metal3.BareMetalHost) { h.Spec.CustomDeploy = nil }, image: "http://images/disk.raw", method: names.StartAssistedInstall},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				w := newWorld(t, assisted(nil), policy.Settings{}, nil)
				defer w.stop()
				w.untilAtRest()
				w.edit(c.first)
				first := w.host().Spec
				w.until("deploying", time.Minute, func(h *metal3.BareMetalHost) bool {
					n, _ := w.sim.Node(nodespec.NodeName(h))
					return h.Status.Provisioning.State == metal3.StateProvisioning && strings.HasPrefix(n.ProvisionState, "wait call")
				})
				w.edit(c.then)
				w.untilState(metal3.StateDeprovisioning, time.Minute)
				h := w.host()
				g.Expect(h.Status.Provisioning.Image.URL).To(Equal(c.image))
				g.Expect(nodespec.MethodOf(h.Status.Provisioning.CustomDeploy)).To(Equal(c.method))
				if c.image != "" {
					g.Expect(h.Status.Provisioning.Image).To(Equal(*first.Image))
				}
				w.untilState(metal3.StateProvisioned, 5*time.Minute)
				h = w.host()
				g.Expect(nodespec.MethodOf(h.Status.Provisioning.CustomDeploy)).To(Equal(nodespec.MethodOf(h.Spec.CustomDeploy)))
				if h.Spec.Image != nil {
					g.Expect(h.Status.Provisioning.Image).To(Equal(*h.Spec.Image))
				}
				let(time.Hour)
				g.Expect(w.host().Status.Provisioning.State).To(Equal(metal3.StateProvisioned), "it stays")
			})
		})
	}
}
