package controllers_test

import (
	"testing"
	"testing/synctest"
	"time"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
)

// TestAHostIsGivenBack: a machine that was installed for an InfraEnv and detached is asked back; it is attached,
// deprovisioned and cleaned, and, as it has its label still, deployed anew. A label that goes does none of that.
func TestAHostIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew(t)
		c.furnish()
		host := func() *metal3v1.BareMetalHost {
			h, _ := read(c, "assisted", &metal3v1.BareMetalHost{})
			return h
		}
		edit(c, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { delete(h.Annotations, names.BMACManage) })
		c.until("detached", func() bool { return host().Status.OperationalStatus == metal3v1.OperationalStatusDetached })

		edit(c, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) { h.Labels = nil })
		<-time.After(10 * time.Minute)
		c.Expect(host().Finalizers).NotTo(ContainElement(names.BMACFinalizer))
		c.Expect(host().Status.Provisioning.State).To(Equal(metal3v1.StateProvisioned), "a label is no wish to have a machine wiped")
		c.Expect(host().Status.OperationalStatus).To(Equal(metal3v1.OperationalStatusDetached))

		edit(c, "assisted", &metal3v1.BareMetalHost{}, func(h *metal3v1.BareMetalHost) {
			h.Labels = map[string]string{names.InfraEnvLabel: "edge"}
			h.Annotations[names.GiveBack] = h.Name
		})
		c.until("given back", func() bool { return host().Status.Provisioning.State == metal3v1.StateDeprovisioning })
		c.until("deployed again", func() bool {
			h := host()
			return h.Status.Provisioning.State == metal3v1.StateProvisioned && h.Status.OperationalStatus == metal3v1.OperationalStatusDetached
		})
		c.Expect(host().Annotations).NotTo(Or(HaveKey(names.GiveBack), HaveKey(names.GivingBack)))
	})
}
