package resources

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// TestTheSecretOfTheLiveImageIsLetGo has a host that another operator has marked the Secret
// with the network data for (apis v0.14: finalizer, no owner): it must not be kept for ever.
func TestTheSecretOfTheLiveImageIsLetGo(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: "lab", Name: "net", Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue}, Finalizers: []string{names.SecretFinalizer},
	}}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateProvisioned)
	h.Spec.PreprovisioningNetworkDataName = "net"
	g.Expect(s.Release(t.Context(), h)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.Finalizers).To(BeEmpty())
}

// TestTheSecretOfTheLiveImageIsHeld deletes the Secret with the network data while the host is
// there: without it the image is revoked, and the machine cannot be cleaned.
func TestTheSecretOfTheLiveImageIsHeld(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "net"}, Data: map[string][]byte{"nmstate": []byte("{}")}}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateProvisioned)
	h.Spec.PreprovisioningNetworkDataName = "net"
	_, err := s.JudgeImage(t.Context(), h, nil, metal3.PreprovisioningImageSpec{NetworkDataName: "net"}, "")
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.Finalizers).To(ContainElement(names.SecretFinalizer))
}

// TestASharedNetworkSecretIsHeldForTheLastOfItsHosts: those that name it for their live
// images, and those whose BMC's it is.
func TestASharedNetworkSecretIsHeldForTheLastOfItsHosts(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "net"}, Data: map[string][]byte{"nmstate": []byte("{}")}}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	first := labHost(metal3.StateProvisioned)
	first.Spec.PreprovisioningNetworkDataName = "net"
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	want := metal3.PreprovisioningImageSpec{NetworkDataName: "net"}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		_, err := s.JudgeImage(t.Context(), h, nil, want, "")
		g.Expect(err).NotTo(HaveOccurred())
	}
	held := func() []string {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		return secret.Finalizers
	}
	g.Expect(kube.Delete(t.Context(), first)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(first), first)).To(Succeed())
	g.Expect(s.Release(t.Context(), first)).To(Succeed())
	g.Expect(held()).To(ConsistOf(names.SecretFinalizer), "the second host names it")
	g.Expect(secret.OwnerReferences).To(BeEmpty())
	g.Expect(kube.Delete(t.Context(), second)).To(Succeed())
	g.Expect(s.Release(t.Context(), second)).To(Succeed())
	g.Expect(held()).To(BeEmpty())
}

// TestANetworkSecretThatIsNamedNoMoreIsLetGo when the image asks for another.
func TestANetworkSecretThatIsNamedNoMoreIsLetGo(t *testing.T) {
	g := NewWithT(t)
	meta := metav1.ObjectMeta{Namespace: "lab", Name: "mistake"}
	kube := newKube(t, &corev1.Secret{ObjectMeta: meta})
	s := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateInspecting)
	for _, name := range []string{"mistake", ""} {
		h.Spec.PreprovisioningNetworkDataName = name
		want := metal3.PreprovisioningImageSpec{NetworkDataName: name}
		_, err := s.JudgeImage(t.Context(), h, nil, want, "")
		g.Expect(err).NotTo(HaveOccurred())
		_, err = s.AskImage(t.Context(), h, want)
		g.Expect(err).NotTo(HaveOccurred())
		secret := &corev1.Secret{}
		g.Expect(kube.Get(t.Context(), types.NamespacedName{Namespace: "lab", Name: "mistake"}, secret)).To(Succeed())
		g.Expect(len(secret.Finalizers) == 1).To(Equal(name == "mistake"))
	}
}
