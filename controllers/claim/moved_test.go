package claim

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// TestAClaimThatIsDeletedForAMoveIsElsewhere: clusterctl takes the finalizers off what it has moved and deletes it, with an
// annotation that says so. It gets no finalizer back before that, and its host, which stays where it is, is not cleaned.
func TestAClaimThatIsDeletedForAMoveIsElsewhere(t *testing.T) {
	w := newWorld(t)
	w.create(wish)
	w.settle()
	w.state(metal3.StateProvisioned, func(h *metal3.BareMetalHost) { h.Status.Provisioning.Image = *h.Spec.Image })
	w.settle()
	w.edit(func(c *metal3.HostClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, names.DeleteForMove, "")
		c.Finalizers = nil
	})
	w.settle()
	w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
	w.settle()
	w.Expect(w.host().Spec.Image).NotTo(BeNil(), "the machine is to be cleaned")
	w.Expect(w.claim()).To(BeNil())
}
