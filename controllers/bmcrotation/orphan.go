package bmcrotation

import (
	"context"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
)

// lookAgain is between two looks at the change of a host that is gone: nobody has a
// condition to read, and whoever mends its Secret does not wake it.
const lookAgain = time.Hour

// gone ends the change of a host that was deleted in the middle of it. The record is
// not deleted with the host then, and has what is needed to reach the BMC. So the
// deletion waits for nothing, and the Secret that the host had is right in the end.
func (r *reconciler) gone(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	gone := &metal3.BareMetalHost{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	stored := &corev1.Secret{}
	if err := r.client.Get(ctx, recordKey(gone), stored); err != nil {
		r.part(key)
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	record, err := rotation.Decode(stored.Data)
	if err != nil || !record.UnderWay() || record.Phase == rotation.Quarantined || record.BMC.Address == "" {
		r.part(key)
		return ctrl.Result{}, nil //nolint:nilerr // it is kept for a person to read
	}
	gone.Spec.BMC = metal3.BMCDetails{Address: record.BMC.Address, CredentialsName: record.Secret, DisableCertificateVerification: record.BMC.Insecure}
	wait, err := r.pass(ctx, gone, &v1alpha1.BMC{})
	if err != nil {
		return again(err)
	}
	if r.options.Log != nil {
		r.options.Log.Info("BMC password of a host that is gone", "host", key.String(), "reason", string(wait.Condition.Reason), "message", wait.Condition.Message)
	}
	if wait.For <= 0 || wait.For > lookAgain {
		wait.For = lookAgain
	}
	return ctrl.Result{RequeueAfter: wait.For}, nil
}

// part lets go of all that is kept of a host that is gone.
func (r *reconciler) part(key types.NamespacedName) {
	r.places.leave(key.String())
	r.options.BMCs.Drop(key.String())
}
