package bmcrotation

import (
	"context"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/credentials/certificate"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// SetupCertificates adds the controller of certificates to a manager, after [Setup].
func SetupCertificates(mgr ctrl.Manager, o CertificateOptions) error {
	r := &certifier{client: mgr.GetClient(), live: mgr.GetAPIReader(), options: o, places: newPlaces(o.Gate)}
	secrets := handler.EnqueueRequestsFromMapFunc(r.ofSecret)
	err := ctrl.NewControllerManagedBy(mgr).Named("bmccertificate").WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(matters{})).
		Watches(&v1alpha1.BMC{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(probed{})).
		Watches(&corev1.Secret{}, secrets).
		WatchesMetadata(&corev1.Secret{}, secrets, builder.WithPredicates(secretcache.Unlabelled)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of BMCs' certificates: %w", err)
	}
	return nil
}

// ofSecret are the hosts that a Secret is about: those that log in with it, and the one
// whose record it is.
func (r *certifier) ofSecret(ctx context.Context, secret kclient.Object) []ctrl.Request {
	var list metal3.BareMetalHostList
	if err := r.client.List(ctx, &list, kclient.InNamespace(secret.GetNamespace()), kclient.MatchingFields{secretIndex: secret.GetName()}); err != nil {
		return nil
	}
	all := requests(&list)
	for _, record := range []string{rotation.RecordName(""), certificate.RecordName("")} {
		if host, is := strings.CutSuffix(secret.GetName(), record); is {
			all = append(all, ctrl.Request{NamespacedName: kclient.ObjectKey{Namespace: secret.GetNamespace(), Name: host}})
		}
	}
	return all
}
