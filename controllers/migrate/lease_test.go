package migrate

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	. "github.com/onsi/gomega"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// lease is a lease of 15 s in namespace metal3.
func lease(name, holder string, renewed time.Time) *coordinationv1.Lease {
	seconds, at := int32(15), metav1.NewMicroTime(renewed)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "metal3", Name: name},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &at, LeaseDurationSeconds: &seconds},
	}
}

func TestLeaseHolder(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
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
			holder, err := LeaseHolder(t.Context(), fake.NewClientBuilder().WithObjects(tc.lease).Build(), now)
			g.Expect(err).NotTo(HaveOccurred())
			g.Expect(holder).To(Equal(tc.want))
		})
	}
}

// TestTheStartWaitsForTheLease lets the other operator renew its lease for a
// minute, then stop: by giving the lease up, or by dying.
func TestTheStartWaitsForTheLease(t *testing.T) {
	for name, tc := range map[string]struct {
		leave func(*coordinationv1.Lease)
		after time.Duration
	}{
		"it gives the lease up": {func(l *coordinationv1.Lease) { nobody := ""; l.Spec.HolderIdentity = &nobody }, leaseLook},
		"it dies":               {func(*coordinationv1.Lease) {}, 15*time.Second + leaseLook},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := NewWithT(t)
				held := lease("baremetal-operator", "pod-1", time.Now())
				c := fake.NewClientBuilder().WithObjects(held).Build()
				done := make(chan error, 1)
				go func() { done <- WaitForLease(t.Context(), c, logr.Discard()) }()
				for range 6 {
					<-time.After(10 * time.Second)
					g.Expect(c.Get(t.Context(), client.ObjectKeyFromObject(held), held)).To(Succeed())
					at := metav1.NewMicroTime(time.Now())
					held.Spec.RenewTime = &at
					g.Expect(c.Update(t.Context(), held)).To(Succeed())
					g.Expect(done).NotTo(Receive(), "it is still held")
				}
				tc.leave(held)
				g.Expect(c.Update(t.Context(), held)).To(Succeed())
				stopped := time.Now()
				g.Expect(<-done).To(Succeed())
				g.Expect(time.Since(stopped)).To(BeNumerically("<=", tc.after))
			})
		})
	}
}
