package bmc

import (
	"fmt"
	"testing"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/test/bmc/simulator"
	shared "github.com/ironflow/ironflow/test/bmc/world"
)

// TestHostsOfOneBMCAreProbedInTurn: all at once they would take its time from each other.
func TestHostsOfOneBMCAreProbedInTurn(t *testing.T) {
	w := newWorld(t, simulator.System{}, func(w *world) {
		w.slow = func() { <-time.After(50 * time.Millisecond) }
	})
	w.registering()
	const hosts = 7
	for i := 2; i <= hosts; i++ {
		w.Expect(w.Sim.AddSystem(simulator.System{ID: fmt.Sprint(i)})).To(Succeed())
		h := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: fmt.Sprintf("blade-%d", i)}}
		h.Spec.BMC = metal3.BMCDetails{Address: fmt.Sprintf("redfish-virtualmedia+%s/redfish/v1/Systems/%d", w.URL, i), CredentialsName: shared.Secret}
		w.Create(h)
		h.Status.Provisioning.State = metal3.StateRegistering
		w.Expect(w.Kube.Status().Update(t.Context(), h)).To(Succeed())
	}
	w.Eventually(func() (probed int) {
		var list v1alpha1.BMCList
		w.Expect(w.Kube.List(t.Context(), &list, kclient.InNamespace(key.Namespace))).To(Succeed())
		for i := range list.Items {
			if list.Items[i].Status.Report != nil {
				probed++
			}
		}
		return probed
	}).WithTimeout(time.Minute).Should(Equal(hosts))
	w.Expect(w.mostProbing.Load()).To(BeEquivalentTo(probesAtOnce))
	w.Eventually(w.Sim.Sessions).WithTimeout(time.Minute).Should(HaveLen(1), "they have one session of ours")
}
