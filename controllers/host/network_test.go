package host

import (
	"testing"
	"testing/synctest"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// Where no live image is built per host, a host's static network reaches it through
// its node.
func TestPreprovisioningNetworkDataReachesTheNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		w := newWorld(t, assisted(nil), policy.Settings{}, func(h *metal3.BareMetalHost) { h.Spec.PreprovisioningNetworkDataName = "net" })
		defer w.stop()
		w.until("missing", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.ErrorType == metal3.RegistrationError })
		g.Expect(w.host().Status.ErrorMessage).To(ContainSubstring(`Secret "net"`))
		g.Expect(w.sim.Nodes()).To(BeEmpty(), "a machine is not booted without its network")

		net := &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: lab.Namespace, Name: "net"},
			Data:       map[string][]byte{"networkData": []byte("links:\n- id: eth0")},
		}
		g.Expect(w.kube.Create(t.Context(), net)).To(Succeed())
		w.untilState(metal3.StateAvailable, time.Hour)
		w.until("at rest", time.Minute, func(h *metal3.BareMetalHost) bool { return h.Status.PoweredOn })
		data := func() any { n, _ := w.sim.Node(nodespec.NodeName(w.host())); return n.Fields["network_data"] }
		g.Expect(data()).To(Equal(map[string]any{"links": []any{map[string]any{"id": "eth0"}}}))

		g.Expect(w.kube.Get(t.Context(), client.ObjectKeyFromObject(net), net)).To(Succeed())
		net.Data["networkData"] = []byte("links: []")
		g.Expect(w.kube.Update(t.Context(), net)).To(Succeed())
		w.sim.ResetCounts()
		let(time.Minute)
		g.Expect(w.sim.Counts()).NotTo(HaveKey(HavePrefix("PATCH")), "a host at rest is left alone")
		w.edit(wantInstall)
		w.untilState(metal3.StateProvisioned, time.Minute)
		g.Expect(data()).To(Equal(map[string]any{"links": []any{}}), "the next boot of the live image has the newest")
	})
}
