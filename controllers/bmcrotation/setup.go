package bmcrotation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/bmc/credentials"
	"github.com/ironflow/ironflow/bmc/credentials/password"
	"github.com/ironflow/ironflow/bmc/credentials/rotation"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// concurrency is how many hosts are looked at at once; how many passwords are changed
// at once is another thing, see [Options].
const concurrency = 16

// Options wire the controller. BMCs, Ironics, Gate, Random and Now are required.
type Options struct {
	// BMCs has a client for each BMC, by namespace and name of the host: the one that
	// the controller of BMCs uses too, so that it has the new password at once.
	BMCs *client.Pool
	// CA is what BMCs' certificates are verified with, in PEM; empty for the system's.
	CA []byte
	// Ironics finds the Ironic that a host belongs to.
	Ironics Ironics
	// Every is the time between two changes; 0: on request only.
	Every time.Duration
	// Gate bounds how many changes are under way, of passwords and certificates together.
	Gate *credentials.Gate
	// Policy is what passwords are made of, where a host says nothing else.
	Policy password.Policy
	// Random is crypto/rand's Reader.
	Random io.Reader
	// Now is the time.
	Now func() time.Time
	// Log hears one line for each step. Nil is silent.
	Log *slog.Logger

	// limits are what a BMC asks of passwords: password.LimitsOf, but in tests.
	limits func(*v1alpha1.BMCReport) password.Limits
}

// secretIndex finds hosts by the name of their BMC's Secret, baseIndex by the address of
// their BMC without its path.
const (
	secretIndex = "ironflow.bmcrotation.secret" //nolint:gosec // the name of an index
	baseIndex   = "ironflow.bmcrotation.base"
)

// Setup adds the controller to a manager.
func Setup(mgr ctrl.Manager, o Options) error {
	if o.limits == nil {
		o.limits = password.LimitsOf
	}
	ctx, fields := context.Background(), mgr.GetFieldIndexer()
	err := errors.Join(
		fields.IndexField(ctx, &metal3.BareMetalHost{}, secretIndex, func(o kclient.Object) []string { return indexed(o, secretOf) }),
		fields.IndexField(ctx, &metal3.BareMetalHost{}, baseIndex, func(o kclient.Object) []string { return indexed(o, baseOf) }),
	)
	if err != nil {
		return fmt.Errorf("index hosts by what their BMCs share: %w", err)
	}
	r := &reconciler{loop: newLoop(mgr, o.Gate), options: o}
	if err := r.watch(mgr, "bmcrotation", r, rotation.RecordName("")).Complete(r); err != nil {
		return fmt.Errorf("set up the controller of BMCs' passwords: %w", err)
	}
	return nil
}

func newLoop(mgr ctrl.Manager, gate *credentials.Gate) loop {
	return loop{client: mgr.GetClient(), live: mgr.GetAPIReader(), cache: mgr.GetCache(), places: newPlaces(gate)}
}

// watch wakes the hosts that the work is about for all that a pass depends on; records are
// the ends of the names of records.
func (l loop) watch(mgr ctrl.Manager, name string, w work, records ...string) *builder.Builder {
	secrets, about := handler.EnqueueRequestsFromMapFunc(func(ctx context.Context, secret kclient.Object) []ctrl.Request {
		return l.ofSecret(ctx, w, secret, records)
	}), l.about(w)
	return ctrl.NewControllerManagedBy(mgr).Named(name).WithOptions(controller.Options{MaxConcurrentReconciles: concurrency}).
		For(&metal3.BareMetalHost{}, builder.WithPredicates(matters{}, about)).
		Watches(&metal3.BareMetalHost{}, handler.EnqueueRequestsFromMapFunc(l.beside), builder.WithPredicates(moved{})).
		Watches(&v1alpha1.BMC{}, &handler.EnqueueRequestForObject{}, builder.WithPredicates(probed{}, about)).
		Watches(&corev1.Secret{}, secrets).
		WatchesMetadata(&corev1.Secret{}, secrets, builder.WithPredicates(secretcache.Unlabelled))
}

// indexed is a host's value for an index; none if it is empty.
func indexed(o kclient.Object, of func(*metal3.BareMetalHost) string) []string {
	if h, is := o.(*metal3.BareMetalHost); is && of(h) != "" {
		return []string{of(h)}
	}
	return nil
}

// ofSecret are the hosts that a Secret is about: those that log in with it and have something
// to be done, and the one whose record it is.
func (l loop) ofSecret(ctx context.Context, w work, secret kclient.Object, records []string) []ctrl.Request {
	var all []ctrl.Request
	users := l.hosts(ctx, kclient.InNamespace(secret.GetNamespace()), kclient.MatchingFields{secretIndex: secret.GetName()})
	for i := range users {
		if h := &users[i]; l.heeds(ctx, w, h) {
			all = append(all, ctrl.Request{NamespacedName: kclient.ObjectKeyFromObject(h)})
		}
	}
	for _, record := range records {
		if host, is := strings.CutSuffix(secret.GetName(), record); is {
			all = append(all, ctrl.Request{NamespacedName: kclient.ObjectKey{Namespace: secret.GetNamespace(), Name: host}})
		}
	}
	return all
}

// beside are the other hosts that may share a Secret or a BMC with one that has come, gone or
// changed.
func (l loop) beside(ctx context.Context, o kclient.Object) []ctrl.Request {
	h, is := o.(*metal3.BareMetalHost)
	if !is {
		return nil
	}
	var others []metal3.BareMetalHost
	if secretOf(h) != "" {
		others = l.hosts(ctx, kclient.InNamespace(h.Namespace), kclient.MatchingFields{secretIndex: secretOf(h)})
	}
	if base := baseOf(h); base != "" {
		others = append(others, l.hosts(ctx, kclient.MatchingFields{baseIndex: base})...)
	}
	var all []ctrl.Request
	for i := range others {
		if key := kclient.ObjectKeyFromObject(&others[i]); key != kclient.ObjectKeyFromObject(h) {
			all = append(all, ctrl.Request{NamespacedName: key})
		}
	}
	return all
}

// hosts finds hosts in the cache, as they are there: they are not to be changed. None where
// that fails.
func (l loop) hosts(ctx context.Context, of ...kclient.ListOption) []metal3.BareMetalHost {
	var list metal3.BareMetalHostList
	if err := l.cache.List(ctx, &list, append(of, kclient.UnsafeDisableDeepCopy)...); err != nil {
		return nil
	}
	return list.Items
}
