package claim

import (
	"testing"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestARightThatIsMissingIsSaid: by default the program may not create Secrets, and so not copy
// those of a claim.
func TestARightThatIsMissingIsSaid(t *testing.T) {
	w := newWorld(t)
	w.create(func(c *metal3.HostClaim) { c.Spec.UserData = &corev1.SecretReference{Name: "cloud"} })
	w.refuseCreate = func(o client.Object) error {
		if _, is := o.(*corev1.Secret); is {
			return apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, o.GetName(), nil)
		}
		return nil
	}
	for range 4 {
		_, _ = w.rec.Reconcile(t.Context(), ctrl.Request{NamespacedName: claimKey})
	}
	w.Expect(w.condition(metal3.SynchronizedCondition)).To(HaveField("Message", ContainSubstring("kubectl apply -k config/hostclaims")))
	w.refuseCreate = nil
	w.settle()
	w.Expect(w.condition(metal3.SynchronizedCondition).Message).NotTo(ContainSubstring("lacks a right"))
}
