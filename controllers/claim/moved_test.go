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
	for name, finalizers := range map[string]int{"without its finalizer": 0, "with its finalizer": 1} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.create(wish)
			w.settle()
			w.state(metal3.StateProvisioned, func(h *metal3.BareMetalHost) { h.Status.Provisioning.Image = *h.Spec.Image })
			w.settle()
			w.edit(func(c *metal3.HostClaim) {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, names.DeleteForMove, "")
				c.Finalizers = c.Finalizers[:finalizers]
			})
			w.settle()
			w.Expect(w.claim().Finalizers).To(HaveLen(finalizers), "it would be kept here")
			w.Expect(w.kube.Delete(t.Context(), w.claim())).To(Succeed())
			w.settle()
			w.Expect(w.host().Spec.Image).NotTo(BeNil(), "the machine is to be cleaned")
			w.Expect(w.claim()).To(BeNil())
		})
	}
}

// restoredBefore is a site whose claim was restored or moved there without its status, and before its host, which was
// installed. Another host is free. The answer is that host as it will arrive.
func (w *world) restoredBefore() *metal3.BareMetalHost {
	w.t.Helper()
	w.create(wish)
	w.settle()
	w.state(metal3.StateProvisioned, func(h *metal3.BareMetalHost) { h.Status.Provisioning.Image = *h.Spec.Image })
	w.settle()
	mine := w.host()
	w.Expect(w.kube.Delete(w.t.Context(), mine)).To(Succeed())
	mine.ResourceVersion, mine.Status = "", metal3.BareMetalHostStatus{}
	w.Expect(w.kube.Create(w.t.Context(), freeHost("host-2"))).To(Succeed())
	c := w.claim()
	c.Status = metal3.HostClaimStatus{}
	w.Expect(w.kube.Status().Update(w.t.Context(), c)).To(Succeed())
	w.settle()
	return mine
}

// TestAClaimThatArrivesBeforeItsHostTakesNoOther: what it asks for runs on the host that it has, and is not installed a second time.
func TestAClaimThatArrivesBeforeItsHostTakesNoOther(t *testing.T) {
	w := newWorld(t)
	mine := w.restoredBefore()
	w.Expect(w.bound()).To(BeEmpty())
	w.Expect(w.condition(metal3.AssociatedCondition)).To(And(HaveField("Reason", metal3.MissingBareMetalHostReason),
		HaveField("Message", And(ContainSubstring("hosts/host-1"), ContainSubstring("Next: ")))))
	w.Expect(w.kube.Create(t.Context(), mine)).To(Succeed())
	w.Expect(w.rec.claimsOfHost(t.Context(), mine)).To(ContainElement(HaveField("NamespacedName", claimKey)), "it is woken")
	w.settle()
	w.Expect(w.bound()).To(ConsistOf(HaveField("Name", "host-1")))
	w.Expect(w.condition(metal3.SynchronizedCondition).Reason).To(Equal(metal3.ConfigurationSyncedReason))
	w.Expect(w.claim().Status.BareMetalHost.Name).To(Equal("host-1"))
}

// TestAClaimIsGivenAnotherHostOnceItIsAskedFor: its host does not come, or is somebody else's.
func TestAClaimIsGivenAnotherHostOnceItIsAskedFor(t *testing.T) {
	for _, taken := range []bool{false, true} {
		w := newWorld(t)
		mine := w.restoredBefore()
		if taken {
			mine.Spec.ConsumerRef.Name = "another"
			w.Expect(w.kube.Create(t.Context(), mine)).To(Succeed())
			w.settle()
		}
		w.Expect(w.condition(metal3.AssociatedCondition)).To(And(HaveField("Reason", metal3.MissingBareMetalHostReason), HaveField("Message", And(
			ContainSubstring("Next: "), ContainSubstring("take the annotation away"), Not(ContainSubstring("another,"))))), "whose it is, is not for all to know")
		w.edit(func(c *metal3.HostClaim) { delete(c.Annotations, names.BoundHost) })
		w.settle()
		w.Expect(w.claim().Status.BareMetalHost).To(HaveValue(HaveField("Name", "host-2")))
	}
}

// TestWhatAClaimsHostIsStandsInItsMetadataBeforeAnythingIsInstalled: a backup that is made in between has it.
func TestWhatAClaimsHostIsStandsInItsMetadataBeforeAnythingIsInstalled(t *testing.T) {
	w := newWorld(t)
	w.create(wish)
	w.before = func() error {
		if w.claim().Annotations[names.BoundHost] == "" {
			w.Expect(w.host().Spec.Image).To(BeNil())
		}
		return nil
	}
	w.settle()
	w.Expect(w.host().Spec.Image).NotTo(BeNil())
	w.Expect(w.claim().Annotations).To(HaveKeyWithValue(names.BoundHost, "hosts/host-1"))
}
