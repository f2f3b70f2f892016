package observe

import (
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

func TestNoProvisioningNetwork(t *testing.T) {
	for address, refused := range map[string]bool{
		"redfish-virtualmedia://bmc.test/redfish/v1/Systems/1": false,
		"redfish-uefihttp://bmc.test/redfish/v1/Systems/1":     false,
		"ipmi://192.0.2.1":                        true,
		"redfish://bmc.test/redfish/v1/Systems/1": true,
	} {
		t.Run(address, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{Spec: metal3.BareMetalHostSpec{
				BootMACAddress: "52:54:00:00:00:01", BMC: metal3.BMCDetails{Address: address, CredentialsName: "bmc"},
			}}
			h.Finalizers, h.Status.Provisioning.State = []string{names.HostFinalizer}, metal3.StateRegistering
			o := &policy.Observed{Now: time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC), Host: h}
			access, err := nodespec.AccessOf(o.Host)
			g.Expect(err).NotTo(HaveOccurred())
			o.BMC.Access, o.Settings.NoProvisioningNetwork = access, true
			g.Expect(new(Observer).observeNetwork(t.Context(), o)).To(Succeed())
			if !refused {
				g.Expect(o.BMC.Problem).To(BeEmpty())
				return
			}
			d := policy.Decide(o)
			g.Expect(d.Status.ErrorType).To(Equal(metal3.RegistrationError))
			g.Expect(d.Status.ErrorMessage).To(ContainSubstring("needs a provisioning network"))
		})
	}
}
