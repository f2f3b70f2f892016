package bmc

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/bmc/metrics"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// concurrency is how many BMCs are asked at once. Passes mostly wait: a BMC takes no
// more than a few requests a second, so that a probe takes ten seconds and more.
const concurrency = 512

// Connections has one client for each BMC; *client.Pool implements it.
type Connections interface {
	Client(key string, t client.Target) (*client.Client, error)
	Drop(key string)
}

// Options wire the controller. All but CA, LiveImage, Sizes and Metrics are required.
type Options struct {
	BMCs Connections
	// Probe makes a report of a BMC.
	Probe func(ctx context.Context, c *client.Client, t client.Target) (*v1alpha1.BMCReport, error)
	// CA is what BMCs' certificates are verified with, in PEM; empty for the system's.
	CA []byte
	// LiveImage has the live images that are not built per host.
	LiveImage LiveImage
	// Sizes know those of images; nil knows none.
	Sizes Sizes
	// Now is the time.
	Now func() time.Time
	// Metrics count probes; nil counts none.
	Metrics *metrics.Metrics
}

// Setup adds the controller to a manager.
func Setup(mgr ctrl.Manager, o Options) error {
	r := &reconciler{
		client: mgr.GetClient(), secrets: secretcache.Reader{Client: mgr.GetClient(), Live: mgr.GetAPIReader()}, options: o,
		status:   bmcstatus.Writer{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Settle: settle},
		failures: map[types.NamespacedName]int{}, verdicts: map[types.NamespacedName]string{},
	}
	same := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object kclient.Object) []ctrl.Request {
		return []ctrl.Request{{NamespacedName: kclient.ObjectKeyFromObject(object)}}
	})
	err := ctrl.NewControllerManagedBy(mgr).Named("bmc").WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(otherToRead{})).
		Watches(&metal3.HostFirmwareSettings{}, same, builder.WithPredicates(predicate.Or[kclient.Object](predicate.GenerationChangedPredicate{}, otherSettings{}))).
		Watches(&metal3.HostFirmwareComponents{}, same).
		Watches(&metal3.PreprovisioningImage{}, same).
		Watches(&v1alpha1.BMC{}, same, builder.WithPredicates(lacking{})).
		WatchesRawSource(source.Func(r.hear)).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up the controller of BMCs: %w", err)
	}
	return nil
}
