package main

import (
	"testing"
	"time"

	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestOtherOperator(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	lease := func(name, holder string, renewed time.Time) *coordinationv1.Lease {
		seconds := int32(15)
		at := metav1.NewMicroTime(renewed)
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: name},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseDurationSeconds: &seconds},
		}
	}
	for name, tc := range map[string]struct {
		lease *coordinationv1.Lease
		want  string
	}{
		"a held lease stops us":         {lease("baremetal-operator", "pod-1", now.Add(-5*time.Second)), "metal3/pod-1"},
		"a lease that was given up":     {lease("baremetal-operator", "", now), ""},
		"a lease that ran out":          {lease("baremetal-operator", "pod-1", now.Add(-time.Minute)), ""},
		"a lease of somebody unrelated": {lease("other", "pod-1", now), ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := NewWithT(t)
			holder, err := otherOperator(t.Context(), fake.NewClientBuilder().WithObjects(tc.lease).Build(), now)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(holder).To(Equal(tc.want))
		})
	}
}
