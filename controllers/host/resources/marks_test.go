package resources

import (
	"context"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// TestMarksOfASecret follows a BMC Secret that two hosts share.
func TestMarksOfASecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc", Labels: map[string]string{"rack": "7"}},
		Data:       map[string][]byte{"username": []byte("admin\n"), "password": []byte(" x ")},
	}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	first := labHost(metal3.StateRegistering)
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	read := func() *corev1.Secret {
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
		return secret
	}
	owners := func() (list []types.UID) {
		for _, r := range read().OwnerReferences {
			g.Expect(r.Controller).To(BeNil(), "an owner, not the controller")
			list = append(list, r.UID)
		}
		return list
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion = ""
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		b, err := s.BMC(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
		g.Expect(b.Problem).To(BeEmpty())
		g.Expect([]string{b.Username, b.Password}).To(Equal([]string{"admin", "x"}), "white space around them is trimmed")
	}
	g.Expect(read().Labels).To(Equal(map[string]string{"rack": "7", names.EnvironmentLabel: names.EnvironmentValue}))
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer))
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID))
	g.Expect(s.releaseSecret(t.Context(), first, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(ConsistOf(names.SecretFinalizer), "the other host uses it")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "garbage collection knows which of them are gone")
	g.Expect(kube.Delete(t.Context(), first)).To(Succeed())
	g.Expect(s.releaseSecret(t.Context(), second, "bmc")).To(Succeed())
	g.Expect(read().Finalizers).To(BeEmpty(), "nobody uses it any more, whoever is still named")
	g.Expect(owners()).To(ConsistOf(first.UID, second.UID), "so that it goes with its hosts")
}

// TestTwoHostsThatGoAtOnceFreeTheirSecret: neither waits for the other.
func TestTwoHostsThatGoAtOnceFreeTheirSecret(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "lab", Name: "bmc"},
		Data:       map[string][]byte{"username": []byte("admin"), "password": []byte("x")},
	}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	first := labHost(metal3.StateRegistering)
	second := first.DeepCopy()
	second.Name, second.UID = "b", "uid-b"
	for _, h := range []*metal3.BareMetalHost{first, second} {
		h.ResourceVersion, h.Finalizers = "", []string{names.HostFinalizer}
		g.Expect(kube.Create(t.Context(), h)).To(Succeed())
		_, err := s.BMC(t.Context(), h)
		g.Expect(err).NotTo(HaveOccurred())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(kube.Delete(t.Context(), h)).To(Succeed())
	}
	for _, h := range []*metal3.BareMetalHost{first, second} {
		g.Expect(s.releaseSecret(t.Context(), h, "bmc")).To(Succeed())
	}
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.Finalizers).To(BeEmpty())
}

// TestHardwareDataIsTheHosts sees that inspection results are kept with the host, and
// go with it.
func TestHardwareDataIsTheHosts(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	k := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateInspecting)
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	for _, hostname := range []string{"first", "again"} {
		g.Expect(k.SaveHardware(t.Context(), h, &metal3.HardwareDetails{Hostname: hostname})).To(Succeed())
		g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed())
		g.Expect(data.Spec.HardwareDetails.Hostname).To(Equal(hostname))
		g.Expect(data.Finalizers).To(ConsistOf(names.HardwareFinalizer))
		g.Expect(metav1.IsControlledBy(data, h)).To(BeTrue())
	}
	g.Expect(kube.Delete(t.Context(), data)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed(), "held until the host lets it go")
	g.Expect(k.releaseOwned(t.Context(), h)).To(Succeed())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).NotTo(Succeed())
}

// stale reads HardwareData from a copy that was made before.
type stale struct {
	client.Client
	copied *metal3.HardwareData
}

// Get implements client.Client.
func (s stale) Get(ctx context.Context, key client.ObjectKey, into client.Object, o ...client.GetOption) error {
	if data, is := into.(*metal3.HardwareData); is {
		s.copied.DeepCopyInto(data)
		return nil
	}
	return s.Client.Get(ctx, key, into, o...)
}

// TestAFinalizerOfSomebodyElseIsNotBroughtBack lets go of HardwareData whose other finalizer
// was taken off, which the cache does not show yet.
func TestAFinalizerOfSomebodyElseIsNotBroughtBack(t *testing.T) {
	g := NewWithT(t)
	kube := newKube(t)
	k := Store{Client: kube, Live: kube, Cache: kube}
	h := labHost(metal3.StateInspecting)
	g.Expect(k.SaveHardware(t.Context(), h, &metal3.HardwareDetails{Hostname: "first"})).To(Succeed())
	data := &metal3.HardwareData{ObjectMeta: metaOf(h)}
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed())
	data.Finalizers = append(data.Finalizers, "site.example/keep")
	g.Expect(kube.Update(t.Context(), data)).To(Succeed())
	k.Client = stale{kube, data.DeepCopy()}
	data.Finalizers = []string{names.HardwareFinalizer}
	g.Expect(kube.Update(t.Context(), data)).To(Succeed())
	g.Expect(apierrors.IsConflict(k.releaseOwned(t.Context(), h))).To(BeTrue())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(data), data)).To(Succeed())
	g.Expect(data.Finalizers).To(ConsistOf(names.HardwareFinalizer))
}
