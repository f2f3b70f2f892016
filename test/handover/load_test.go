package handover_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/test/handover"
	"github.com/ironflow/ironflow/test/ironic/simulator"
)

// TestLoad checks that hosts, Secrets and nodes refer to each other as the
// baremetal-operator has them refer.
func TestLoad(t *testing.T) {
	g := NewWithT(t)
	scheme := runtime.NewScheme()
	g.Expect(clientgoscheme.AddToScheme(scheme)).To(Succeed())
	g.Expect(metal3.AddToScheme(scheme)).To(Succeed())
	c := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(
		&metal3.BareMetalHost{}, &metal3.PreprovisioningImage{}, &metal3.HostFirmwareSettings{}, &metal3.HostFirmwareComponents{},
		&metal3.DataImage{}, &metal3.BMCEventSubscription{},
	).Build()
	sim := simulator.New(simulator.Options{})
	t.Cleanup(sim.Close)
	g.Expect(handover.Load(t.Context(), c, sim)).To(Succeed())
	for _, name := range handover.Names() {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			h := &metal3.BareMetalHost{}
			key := client.ObjectKey{Namespace: handover.Namespace, Name: name}
			g.Expect(c.Get(t.Context(), key, h)).To(Succeed())
			g.Expect(h.Finalizers).To(ConsistOf(names.HostFinalizer))
			if !h.HasBMCDetails() {
				return
			}
			secret := &corev1.Secret{}
			g.Expect(c.Get(t.Context(), client.ObjectKey{Namespace: key.Namespace, Name: h.Spec.BMC.CredentialsName}, secret)).To(Succeed())
			g.Expect(h.Status.TriedCredentials.Version).To(Equal(secret.ResourceVersion), "the credentials are those that were tried")
			g.Expect(secret.OwnerReferences).To(ConsistOf(HaveField("UID", h.UID)))
			node, found := sim.Node(handover.Namespace + "~" + name)
			g.Expect(found).To(Equal(h.Status.OperationalStatus != metal3.OperationalStatusDetached))
			if found {
				g.Expect(node.UUID).To(Equal(h.Status.Provisioning.ID))
				g.Expect(node.Ports).To(ContainElement(h.Spec.BootMACAddress))
			}
		})
	}
}
