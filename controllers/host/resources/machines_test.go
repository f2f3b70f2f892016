package resources

import (
	"fmt"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestWhoMayBeADouble: of the thousand systems behind one BMC only those are looked at that
// may be the same one; a host whose address names none may be any of them.
func TestWhoMayBeADouble(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	host := func(name, address, mac, nic string) *metal3.BareMetalHost {
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: name}}
		h.Spec.BMC.Address, h.Spec.BootMACAddress = address, mac
		h.Status.HardwareDetails = &metal3.HardwareDetails{NIC: []metal3.NIC{{MAC: nic}}}
		return h
	}
	const shared = "be:3a:f2:b6:05:9f"
	builder := fake.NewClientBuilder().WithScheme(scheme).WithIndex(&metal3.BareMetalHost{}, MachineIndex, IndexMachines)
	for i := range 5 {
		builder = builder.WithObjects(host(fmt.Sprint("n", i), fmt.Sprint("redfish://bmc.test/redfish/v1/Systems/", i), fmt.Sprint("52:54:00:00:00:0", i), shared))
	}
	cache := builder.WithObjects(host("alone", "redfish://alone.test", "52:54:00:00:01:00", "52:54:00:00:02:00")).Build()
	for name, c := range map[string]struct {
		host *metal3.BareMetalHost
		want []string
	}{
		"one of many systems":         {host("n1", "redfish://bmc.test/redfish/v1/Systems/1", "52:54:00:00:00:01", shared), nil},
		"another of the same system":  {host("new", "redfish://BMC.test:443/redfish/v1/Systems/1/", "52:54:00:00:03:00", ""), []string{"n1"}},
		"an address without a system": {host("new", "redfish://bmc.test", "", ""), []string{"n0", "n1", "n2", "n3", "n4"}},
		"of the only system of a BMC": {host("new", "redfish://alone.test/redfish/v1/Systems/1", "", ""), []string{"alone"}},
		"of a boot MAC address":       {host("new", "ipmi://192.0.2.1", "52:54:00:00:00:03", ""), []string{"n3"}},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			list, err := MayBeDoubles(t.Context(), cache, c.host)
			g.Expect(err).NotTo(HaveOccurred())
			var found []string
			for _, h := range list {
				found = append(found, h.Name)
			}
			g.Expect(found).To(ConsistOf(c.want))
		})
	}
	for name, want := range map[string][]string{"n2": {shared}, "alone": nil} {
		h := &metal3.BareMetalHost{}
		g.Expect(cache.Get(t.Context(), types.NamespacedName{Namespace: "lab", Name: name}, h)).To(Succeed())
		macs, err := SharedMACs(t.Context(), cache, h)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(macs).To(Equal(want), name)
	}
}
