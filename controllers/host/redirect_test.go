package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// redirect is where addresses lead that redirect.
func redirect(address string) string {
	if strings.Contains(address, "latest") {
		return "http://mirror-7.test/os.raw"
	}
	return ""
}

// TestAnImageWhoseAddressRedirectsStaysDeployed: what was deployed is what the spec asks for,
// whatever Ironic makes of the address, and a deployment that fails is one of the wish that
// it was for, so that the limit on them ends.
func TestAnImageWhoseAddressRedirectsStaysDeployed(t *testing.T) {
	for name, address := range map[string]string{
		"redirected":                       "http://images/latest.raw",
		"with a token that Ironic hides":   "http://images/os.raw?token=abc&part=1",
		"with both":                        "http://images/latest.raw?X-Amz-Security-Token=abc",
		"with credentials of its server":   "http://bob:builder@images/os.raw",
		"that is what it is, as a control": "http://images/os.raw",
	} {
		for outcome, fails := range map[string]bool{"deployed": false, "failed": true} {
			t.Run(name+", "+outcome, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(t, simulator.Options{AutomatedClean: true, Redirect: redirect, Behave: func(o simulator.Operation) simulator.Outcome {
						if fails && o.Name == "deploy" && o.Node.ProvisionState == "wait call-back" {
							return simulator.Outcome{Error: "no space left on /dev/sda"}
						}
						return simulator.Outcome{}
					}}, policy.Settings{MaxAttempts: 5}, func(h *metal3.BareMetalHost) {
						osImage(h)
						h.Spec.Image.URL = address
					})
					defer func() { w.stop() }()
					let(12 * time.Hour)
					h, events := w.host(), w.events.list()
					n, _ := w.sim.Node("lab~host-1")
					if fails {
						w.g.Expect(condition(h, "Stalled").Reason).To(Equal("RetryLimitReached"))
						w.g.Expect(count1(events, "ProvisioningStarted")).To(Equal(5))
						return
					}
					w.g.Expect(count1(events, "ProvisioningStarted")).To(Equal(1))
					w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
					w.g.Expect(h.Status.Provisioning.Image).To(Equal(*h.Spec.Image))
					if leads := redirect(address); leads != "" {
						w.g.Expect(n.Fields["instance_info"]).To(HaveKeyWithValue("image_source", leads), "Ironic has written over it")
					}
				})
			})
		}
	}
}

// TestARedirectedDeploymentOfBaremetalOperator: nobody has recorded what it was for. What
// the spec says is believed.
func TestARedirectedDeploymentOfBaremetalOperator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{AutomatedClean: true, Redirect: redirect}, policy.Settings{}, func(h *metal3.BareMetalHost) {
			osImage(h)
			h.Spec.Image.URL = "http://images/latest.raw"
		})
		defer func() { w.stop() }()
		w.untilNode("lab~host-1", "wait call-back", time.Minute)
		n, _ := w.sim.Node("lab~host-1")
		info := n.Fields["instance_info"].(map[string]any)
		delete(info, "ironflow_wish")
		w.g.Expect(w.sim.Edit("lab~host-1", map[string]any{"extra": nil, "instance_info": info})).To(BeTrue())
		w.untilState(metal3.StateProvisioned, time.Minute)
		let(time.Hour)
		h := w.host()
		w.g.Expect(h.Status.Provisioning.State).To(Equal(metal3.StateProvisioned))
		w.g.Expect(h.Status.Provisioning.Image.URL).To(Equal("http://images/latest.raw"))
	})
}

// TestTheInterfaceThatIronicFindsOut: an image is deployed by the interface that is Ironic's
// default, also after a live ISO, which needs one of its own. A default that writes no image
// is not left.
func TestTheInterfaceThatIronicFindsOut(t *testing.T) {
	for standard, want := range map[string]string{"autodetect": "autodetect", "direct": "direct", "custom-agent": "direct", "ramdisk": "direct"} {
		t.Run(standard, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, simulator.Options{DeployInterface: standard}, policy.Settings{}, func(h *metal3.BareMetalHost) {
					h.Spec.Image = &metal3.Image{URL: "http://images/live.iso", DiskFormat: new("live-iso")}
				})
				defer func() { w.stop() }()
				w.untilState(metal3.StateProvisioned, time.Minute)
				n, _ := w.sim.Node("lab~host-1")
				w.g.Expect(n.Fields["deploy_interface"]).To(Equal("ramdisk"))
				w.sim.ResetCounts()
				w.edit(osImage)
				w.until("deployed", 5*time.Minute, func(h *metal3.BareMetalHost) bool {
					return h.Status.Provisioning.State == metal3.StateProvisioned && h.Status.Provisioning.Image.URL == h.Spec.Image.URL
				})
				n, _ = w.sim.Node("lab~host-1")
				w.g.Expect(n.Fields["deploy_interface"]).To(Equal(want))
				w.g.Expect(w.sim.Counts()["PATCH /v1/nodes/{node}"]).To(BeNumerically("<=", 2))
			})
		})
	}
}
