//go:build e2e

package host_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// TestFastInspectionOnTheRealIronic has a real Ironic ask a simulated BMC what the machine has. The machine boots nothing
// for that: its power is not touched.
func TestFastInspectionOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startSimulated(t)
	_, err := envtest.InstallCRDs(r.config, envtest.CRDInstallOptions{CRDs: []*apiextensionsv1.CustomResourceDefinition{newerHosts(t)}})
	g.Expect(err).NotTo(HaveOccurred())
	r.create(t, func(h *metal3.BareMetalHost) { h.Spec.InspectionMode, h.Spec.Online = "fast", false })
	r.until(t, "available", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	details := r.host(t).Status.HardwareDetails
	t.Logf("%+v", details)
	g.Expect(details.NIC).To(ContainElement(HaveField("MAC", r.machine.MAC)))
	g.Expect(details.RAMMebibytes).To(BeNumerically(">", 0))
	g.Expect(details.CPU.Count).To(BeNumerically(">", 0))
	n, err := r.gateway.Get(t.Context(), "default~real")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(n.Interfaces.Inspect).To(Equal("redfish"))
	g.Expect(r.host(t).Status.PoweredOn).To(BeFalse())
}
