package resources

import (
	"context"
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/ironflow/ironflow/api/names"
)

// TestUnknownSecretIsReadAndMarkedAtOnce lets the cache know no Secret, as it knows
// none without the label: one request marks what is there, and says what it holds.
func TestUnknownSecretIsReadAndMarkedAtOnce(t *testing.T) {
	g := NewWithT(t)
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "lab", Name: "bmc", Labels: map[string]string{"rack": "7"}, Annotations: map[string]string{"note": "of the site"},
			Finalizers:      []string{"site/backup"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "site/v1", Kind: "Rack", Name: "seven", UID: "uid-rack"}},
		},
		Data: map[string][]byte{"username": []byte("admin"), "password": []byte("x")},
	}
	kube := newKube(t, secret)
	writes := 0
	cache := interceptor.NewClient(kube.(client.WithWatch), interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
			return apierrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, key.Name)
		},
		Patch: func(ctx context.Context, c client.WithWatch, obj client.Object, patch client.Patch, opts ...client.PatchOption) error {
			writes++
			return c.Patch(ctx, obj, patch, opts...)
		},
	})
	s := Store{Client: cache, Live: cache, Cache: cache} // nor does the API server show one
	h := labHost(metal3.StateRegistering)
	b, err := s.BMC(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Problem).To(BeEmpty())
	g.Expect([]string{b.Username, b.Password}).To(Equal([]string{"admin", "x"}))
	g.Expect(writes).To(Equal(1))
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(b.Version).To(Equal(secret.ResourceVersion))
	g.Expect(secret.Labels).To(Equal(map[string]string{"rack": "7", names.EnvironmentLabel: names.EnvironmentValue}))
	g.Expect(secret.Annotations).To(HaveKey("note"))
	g.Expect(secret.Finalizers).To(ConsistOf("site/backup", names.SecretFinalizer))
	g.Expect(secret.OwnerReferences).To(HaveLen(2))

	h.Spec.BMC.CredentialsName = "gone"
	b, err = s.BMC(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(b.Missing).To(BeTrue())

	h.DeletionTimestamp = new(metav1.Now())
	_, err = s.BMC(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(writes).To(Equal(2), "a host that goes marks nothing")
}

// TestOwnerOfTheSameName has a host that was made again: Kubernetes would take its
// Secret away with the one before.
func TestOwnerOfTheSameName(t *testing.T) {
	g := NewWithT(t)
	h := labHost(metal3.StateRegistering)
	before := metav1.OwnerReference{APIVersion: metal3.GroupVersion.String(), Kind: "BareMetalHost", Name: h.Name, UID: "uid-before"}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "lab", Name: "bmc", Labels: map[string]string{names.EnvironmentLabel: names.EnvironmentValue},
			Finalizers: []string{names.SecretFinalizer}, OwnerReferences: []metav1.OwnerReference{before},
		},
		Data: map[string][]byte{"username": []byte("admin"), "password": []byte("x")},
	}
	kube := newKube(t, secret)
	s := Store{Client: kube, Live: kube, Cache: kube}
	_, err := s.BMC(t.Context(), h)
	g.Expect(err).NotTo(HaveOccurred())
	g.Expect(kube.Get(t.Context(), client.ObjectKeyFromObject(secret), secret)).To(Succeed())
	g.Expect(secret.OwnerReferences).To(HaveLen(1))
	g.Expect(secret.OwnerReferences[0].UID).To(Equal(h.UID))
}
