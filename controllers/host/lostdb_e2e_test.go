//go:build e2e

package host_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// TestLostDatabaseOnTheRealIronic loses Ironic's database in the middle of a
// deployment, which is then made anew, and again when the host is provisioned:
// then it is enrolled and adopted, and the machine notices nothing.
func TestLostDatabaseOnTheRealIronic(t *testing.T) {
	g := NewWithT(t)
	r := startReal(t)
	h := r.create(t)
	r.until(t, "available", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateAvailable })
	r.edit(t, func(h *metal3.BareMetalHost) {
		h.Spec.CustomDeploy = &metal3.CustomDeploy{Method: names.StartAssistedInstall}
	})
	r.untilNode(t, h, ironic.StateDeployWait)
	first := r.host(t).Status.Provisioning.ID
	g.Expect(r.hall.Ironic.LoseDatabase(t.Context())).To(Succeed())
	r.until(t, "provisioned", func(h *metal3.BareMetalHost) bool { return h.Status.Provisioning.State == metal3.StateProvisioned })
	second := r.node(t)
	g.Expect(second.UUID).NotTo(Equal(first))
	g.Expect(r.host(t).Status.Provisioning.ID).To(Equal(second.UUID))
	r.until(t, "on", func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })

	touched := r.machine.PowerChanges()
	g.Expect(r.hall.Ironic.LoseDatabase(t.Context())).To(Succeed())
	r.until(t, "adopted", func(h *metal3.BareMetalHost) bool {
		n, err := r.gateway.Get(t.Context(), "default~real")
		return err == nil && n.ProvisionState == ironic.StateActive && h.Status.Provisioning.ID == n.UUID
	})
	third := r.node(t)
	g.Expect(third.UUID).NotTo(Equal(second.UUID))
	g.Expect(third.PowerState).To(Equal(ironic.PowerOn))
	owner, err := r.gateway.Find(t.Context(), ironic.Identity{BootMAC: r.machine.MAC, Name: third.Name})
	g.Expect(err).NotTo(HaveOccurred(), "its ports are there again")
	g.Expect(owner.UUID).To(Equal(third.UUID))
	g.Expect(r.machine.PowerChanges()).To(Equal(touched), "the machine was left alone")
	status := r.host(t).Status
	g.Expect(status.Provisioning.State).To(Equal(metal3.StateProvisioned))
	g.Expect(status.ErrorType).To(BeEmpty())
}

// node reads the host's node.
func (r *realWorld) node(t *testing.T) *ironic.Node {
	t.Helper()
	n, err := r.gateway.Get(t.Context(), "default~real")
	NewWithT(t).Expect(err).NotTo(HaveOccurred())
	return n
}
