package capi_test

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// move takes the machine with its host to another cluster, as `clusterctl move` does: objects are made
// there without their status and with new identities, owners before what they own; then their
// finalizers are taken off here, and they are deleted.
func (m *machine) move(t *testing.T, to *site) *machine {
	t.Helper()
	g := NewWithT(t)
	there := *m
	there.site = to
	there.object(t)
	from := m.site.host(t, m.host)
	old := map[types.UID]metav1.OwnerReference{m.owner.UID: there.owner}
	host := &metal3.BareMetalHost{ObjectMeta: bare(&from.ObjectMeta, old), Spec: from.Spec}
	g.Expect(to.kube.Create(t.Context(), host)).To(Succeed())
	old[from.UID] = metav1.OwnerReference{APIVersion: metal3.GroupVersion.String(), Kind: "BareMetalHost", Name: host.Name, UID: host.UID}

	var moved []client.Object
	for _, name := range []string{from.Spec.BMC.CredentialsName, m.name, m.name + "-metadata", m.name + "-networkdata"} {
		secret := &corev1.Secret{}
		g.Expect(m.kube.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, secret)).To(Succeed())
		g.Expect(to.kube.Create(t.Context(), &corev1.Secret{ObjectMeta: bare(&secret.ObjectMeta, old), Data: secret.Data, Type: secret.Type})).To(Succeed())
		moved = append(moved, secret)
	}
	data := &metal3.HardwareData{}
	g.Expect(m.kube.Get(t.Context(), client.ObjectKeyFromObject(from), data)).To(Succeed())
	g.Expect(to.kube.Create(t.Context(), &metal3.HardwareData{ObjectMeta: bare(&data.ObjectMeta, old), Spec: data.Spec})).To(Succeed())
	for _, o := range append(moved, data, from) {
		g.Expect(m.kube.Patch(t.Context(), o, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"annotations":{"clusterctl.cluster.x-k8s.io/delete-for-move":""},"finalizers":null}}`)))).To(Succeed())
		g.Expect(client.IgnoreNotFound(m.kube.Delete(t.Context(), o))).To(Succeed())
	}
	g.Eventually(func() bool {
		err := m.kube.Get(t.Context(), client.ObjectKeyFromObject(from), &metal3.BareMetalHost{})
		return err != nil && client.IgnoreNotFound(err) == nil
	}, m.patience).Should(BeTrue(), "a host that is paused has its finalizer back from nobody")
	return &there
}

// bare is what of an object's metadata is moved; owners are those of the other cluster.
func bare(from *metav1.ObjectMeta, owners map[types.UID]metav1.OwnerReference) metav1.ObjectMeta {
	out := metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name, Labels: from.Labels, Annotations: from.Annotations, Finalizers: from.Finalizers}
	for _, o := range from.OwnerReferences {
		if there, known := owners[o.UID]; known {
			there.Controller, there.BlockOwnerDeletion = o.Controller, o.BlockOwnerDeletion
			out.OwnerReferences = append(out.OwnerReferences, there)
		}
	}
	return out
}
