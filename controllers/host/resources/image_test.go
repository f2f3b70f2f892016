package resources

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// TestALiveImageIsHeldWhileItsHostIsThere deletes the image of a host before the host is
// gone, as the deletion of a namespace and foreground deletion do: the machine is still to
// be cleaned by it.
func TestALiveImageIsHeldWhileItsHostIsThere(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateProvisioned)
	image, err := s.AskImage(t.Context(), h, metal3.PreprovisioningImageSpec{Architecture: "x86_64"})
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(image.Finalizers).To(ContainElement(names.HostImageFinalizer))
	g.Expect(kube.Delete(t.Context(), image)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image)).To(Succeed(), "it is there until the host lets it go")
	g.Expect(s.Release(t.Context(), h)).To(Succeed())
	g.Expect(apierrors.IsNotFound(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image))).To(BeTrue())
}

// TestImagesFromBeforeAreHeldOnceTheyAreWritten has an image that was made by another version, or
// by baremetal-operator: taking it over writes nothing, and the next write holds it.
func TestImagesFromBeforeAreHeldOnceTheyAreWritten(t *testing.T) {
	g := NewWithT(t)
	h := labHost(metal3.StateProvisioned)
	want := metal3.PreprovisioningImageSpec{Architecture: "x86_64"}
	image := &metal3.PreprovisioningImage{ObjectMeta: metaOf(h), Spec: want}
	kube := newKube(t, image)
	s := Store{Client: kube, Live: kube, Cache: kube}
	live, err := s.JudgeImage(t.Context(), h, image, want, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(live.Unlike).To(BeFalse())
	h.Labels = map[string]string{"rack": "7"}
	_, err = s.LabelImage(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image)).To(Succeed())
	g.Expect(image.Finalizers).To(ConsistOf(names.HostImageFinalizer))
}

// TestADeletedNetworkSecretIsNoOtherContent: the image that was built of it is the present one.
func TestADeletedNetworkSecretIsNoOtherContent(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "net"}}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateDeprovisioning)
	h.Spec.PreprovisioningNetworkDataName = "net"
	want := metal3.PreprovisioningImageSpec{Architecture: "x86_64", NetworkDataName: "net", AcceptFormats: []metal3.ImageFormat{metal3.ImageFormatISO}}
	_, err := s.JudgeImage(t.Context(), h, nil, want, "") // holds it
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	image := &metal3.PreprovisioningImage{ObjectMeta: metaOf(h), Spec: want, Status: metal3.PreprovisioningImageStatus{
		ImageUrl: "http://images.test/a.iso", Format: metal3.ImageFormatISO, Architecture: "x86_64",
		NetworkData: metal3.SecretStatus{Name: "net", Version: secret.ResourceVersion},
		Conditions:  []metav1.Condition{{Type: "Ready", Status: "True"}},
	}}
	g.Expect(kube.Delete(t.Context(), secret)).To(Succeed())
	live, err := s.JudgeImage(t.Context(), h, image, want, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(live.Ready).To(BeTrue(), live.Note)
}

// TestAnImageThatSomebodyDeletes is used on by its host while it is ready and as wanted.
// It does not change any more, so that another one takes its place once it is of no use.
func TestAnImageThatSomebodyDeletes(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateInspecting)
	want := metal3.PreprovisioningImageSpec{Architecture: "x86_64", AcceptFormats: []metal3.ImageFormat{metal3.ImageFormatISO}}
	image, err := s.AskImage(t.Context(), h, want)
	g.Expect(err).NotTo(HaveOccurred())
	image.Generation = 1
	image.Status = metal3.PreprovisioningImageStatus{
		ImageUrl: "http://images.test/a.iso", Format: metal3.ImageFormatISO, Architecture: "x86_64",
		Conditions: []metav1.Condition{{Type: "Ready", Status: "True", Reason: "ImageSuccess", ObservedGeneration: 1}},
	}
	g.Expect(kube.Update(t.Context(), image)).To(Succeed())
	g.Expect(kube.Delete(t.Context(), image)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(image), image)).To(Succeed())
	image.Generation = 2 // which a real API server does
	g.Expect(kube.Update(t.Context(), image)).To(Succeed())
	judge := func() bool {
		t.Helper()
		image, err := s.Image(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
		live, err := s.JudgeImage(t.Context(), h, image, want, "")
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(live.Asked).To(Equal(live.Ready), "one that is not ready is asked for anew")
		return live.Ready
	}
	g.Expect(judge()).To(BeTrue())
	h.Labels = map[string]string{"rack": "7"}
	g.Expect(judge()).To(BeFalse(), "it would be made with the labels of before")
	h.DeletionTimestamp = new(metav1.Now())
	g.Expect(judge()).To(BeTrue(), "for a host that goes nothing better comes")
	h.DeletionTimestamp = nil
	_, err = s.AskImage(t.Context(), h, want)
	g.Expect(err).NotTo(HaveOccurred())
	left, err := s.Image(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(left).To(BeNil(), "let go of")
	image, err = s.AskImage(t.Context(), h, want)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(image.DeletionTimestamp).To(BeNil())
	g.Expect(image.Labels).To(HaveKeyWithValue("rack", "7"))
}
