package host

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestFastInspection has the BMC tell what the machine has: no live image is built for it, and nothing boots.
func TestFastInspection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{Settings: nodespec.Settings{BuildImages: true}}, func(h *metal3.BareMetalHost) { h.Spec.InspectionMode = "fast" })
		defer w.stop()
		mode := func() any {
			n, _ := w.sim.Node(nodespec.NodeName(w.host()))
			return n.Fields["inspect_interface"]
		}
		asked := func() bool { return w.kube.Get(t.Context(), w.key, &metal3.PreprovisioningImage{}) == nil }
		var states []string
		w.until("available", time.Minute, func(h *metal3.BareMetalHost) bool {
			n, _ := w.sim.Node(nodespec.NodeName(h))
			states = append(states, n.ProvisionState)
			return h.Status.Provisioning.State == metal3.StateAvailable
		})
		g.Expect(states).To(And(ContainElement("inspecting"), Not(ContainElement("inspect wait"))))
		g.Expect(mode()).To(Equal("redfish"))
		g.Expect(w.host().Status.HardwareDetails.RAMMebibytes).NotTo(BeZero())
		g.Expect(asked()).To(BeFalse(), "no live image was needed")

		w.edit(func(h *metal3.BareMetalHost) { // again, by booting the machine
			h.Spec.InspectionMode = metal3.InspectionModeAgent
			h.Annotations = map[string]string{names.Inspect: ""}
		})
		w.until("image asked for", time.Minute, func(*metal3.BareMetalHost) bool { return asked() })
		w.imageReady()
		w.until("inspected again", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && len(h.Annotations) == 0
		})
		g.Expect(mode()).To(Equal("agent"))

		w.edit(func(h *metal3.BareMetalHost) { // and once more, fast
			h.Spec.InspectionMode = "fast"
			h.Annotations = map[string]string{names.Inspect: ""}
		})
		w.until("inspected once more", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.Provisioning.State == metal3.StateAvailable && len(h.Annotations) == 0
		})
		g.Expect(mode()).To(Equal("redfish"))
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, time.Minute)
	})
}

// TestFastInspectionOfADell: Ironic's driver for these BMCs has an interface of its own in the place of the general one.
func TestFastInspectionOfADell(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.InspectionMode, h.Spec.BMC.Address = "fast", "idrac-virtualmedia://192.0.2.1/redfish/v1/Systems/System.Embedded.1"
		})
		defer w.stop()
		w.untilState(metal3.StateAvailable, time.Minute)
		n, _ := w.sim.Node(nodespec.NodeName(w.host()))
		NewWithT(t).Expect(n.Fields["inspect_interface"]).To(Equal("idrac-redfish"))
	})
}

// TestFastInspectionNeedsRedfish: a BMC that cannot tell is a registration error, which ends with the wish.
func TestFastInspectionNeedsRedfish(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, simulator.Options{}, policy.Settings{}, func(h *metal3.BareMetalHost) {
			h.Spec.InspectionMode, h.Spec.BMC.Address = "fast", "ipmi://192.0.2.1"
		})
		defer w.stop()
		w.until("refused", time.Minute, func(h *metal3.BareMetalHost) bool {
			return h.Status.ErrorType == metal3.RegistrationError && strings.Contains(h.Status.ErrorMessage, "spec.inspectionMode is fast")
		})
		g.Expect(w.sim.Nodes()).To(BeEmpty())
		w.edit(func(h *metal3.BareMetalHost) { h.Spec.InspectionMode = metal3.InspectionModeAgent })
		w.untilState(metal3.StateAvailable, time.Minute)
	})
}
