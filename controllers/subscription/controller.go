package subscription

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
	"github.com/ironflow/ironflow/ironic"
)

// reportingController is what events name as their source.
const reportingController = "metal3.io/bmceventsubscription-controller"

// Gateway is the part of Ironic that is used here; *ironic.Gateway implements it.
type Gateway interface {
	Subscriptions(ctx context.Context, uuid string) ([]ironic.Subscription, error)
	CreateSubscription(ctx context.Context, uuid string, s ironic.Subscription) (string, error)
	DeleteSubscription(ctx context.Context, uuid, id string) error
}

var _ Gateway = (*ironic.Gateway)(nil)

// Ironics finds the Ironic that a host belongs to.
type Ironics func(h *metal3.BareMetalHost) (Gateway, error)

// Reconciler is the BMCEventSubscription controller. Make one with [Setup].
type Reconciler struct {
	reconcile.Reconciler[*metal3.BMCEventSubscription]
	ironics  Ironics
	live     client.Reader
	proven   *proofs
	recorder reconcile.Recorder
}

func newReconciler(c client.Client, live client.Reader, ironics Ironics) *Reconciler {
	r := &Reconciler{ironics: ironics, live: live, proven: newProofs()}
	r.Reconciler = reconcile.Reconciler[*metal3.BMCEventSubscription]{
		Client:    c,
		New:       func() *metal3.BMCEventSubscription { return &metal3.BMCEventSubscription{} },
		Finalizer: metal3.BMCEventSubscriptionFinalizer,
		Gate:      r.hostAllows,
		Steps:     []reconcile.Step[*metal3.BMCEventSubscription]{r.settle},
		Delete:    r.settle,
	}
	return r
}

// hostIndex finds subscriptions by the name of their host, secretIndex by the
// name of the Secret with their headers.
const (
	hostIndex   = "ironflow.subscription.host"
	secretIndex = "ironflow.subscription.secret" //nolint:gosec // the name of an index
)

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager, ironics Ironics) error {
	r := newReconciler(mgr.GetClient(), mgr.GetAPIReader(), ironics)
	r.recorder = reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	fields := mgr.GetFieldIndexer()
	for index, extract := range map[string]client.IndexerFunc{hostIndex: indexHost, secretIndex: indexSecret} {
		if err := fields.IndexField(context.Background(), &metal3.BMCEventSubscription{}, index, extract); err != nil {
			return fmt.Errorf("index event subscriptions: %w", err)
		}
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("bmceventsubscription").
		For(&metal3.BMCEventSubscription{}).
		Watches(&metal3.BareMetalHost{}, handler.EnqueueRequestsFromMapFunc(r.by(hostIndex)), builder.WithPredicates(hostMatters{})).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.by(secretIndex))).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.by(secretIndex)), builder.WithPredicates(secretcache.Unlabelled)).
		Complete(r)
}

// +kubebuilder:rbac:groups=metal3.io,resources=bmceventsubscriptions,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=bmceventsubscriptions/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=bmceventsubscriptions/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// hostAllows stops at a subscription whose host somebody keeps everybody off, unless
// it is to go without asking anybody.
func (r *Reconciler) hostAllows(ctx context.Context, obj *metal3.BMCEventSubscription) error {
	h, err := r.host(ctx, obj)
	if err != nil || h == nil || toBeReleased(obj) {
		return err
	}
	return reconcile.HandsOff(h)
}

// host reads the host that a subscription names; nil when there is none.
func (r *Reconciler) host(ctx context.Context, obj *metal3.BMCEventSubscription) (*metal3.BareMetalHost, error) {
	h := &metal3.BareMetalHost{}
	err := r.Client.Get(ctx, types.NamespacedName{Namespace: obj.Namespace, Name: obj.Spec.HostName}, h)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no host is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("read host %q: %w", obj.Spec.HostName, err)
	}
	return h, nil
}

// maxDecisions bounds a pass: list, removal, proof, and spares.
const maxDecisions = 6

// settle alternates decisions and calls until nothing is left to do now.
func (r *Reconciler) settle(ctx context.Context, obj *metal3.BMCEventSubscription) error {
	in, err := r.observe(ctx, obj)
	if err != nil {
		return err
	}
	for range maxDecisions {
		v := Decide(in)
		if v.Event != nil {
			r.recorder.Record(obj, nil, *v.Event)
		}
		if v.Lost {
			obj.Status.SubscriptionID = ""
		}
		if v.Do == Nothing {
			return r.conclude(&in, v)
		}
		if err := r.call(ctx, &in, v); err != nil {
			return r.refused(&in, v.Do, err)
		}
	}
	return fmt.Errorf("BMCEventSubscription %s came to no rest", client.ObjectKeyFromObject(obj))
}

// observe reads what decides, all but what only the BMC knows.
func (r *Reconciler) observe(ctx context.Context, obj *metal3.BMCEventSubscription) (Input, error) {
	in := Input{Object: obj, Node: r.proven.node(obj)}
	var err error
	if in.Host, err = r.host(ctx, obj); err != nil {
		return in, err
	}
	if in.Twin, err = r.twin(ctx, obj); err != nil {
		return in, err
	}
	_, in.Problem, err = r.headers(ctx, obj)
	return in, err
}

// twin finds an older object that asks for the same.
func (r *Reconciler) twin(ctx context.Context, obj *metal3.BMCEventSubscription) (string, error) {
	var list metal3.BMCEventSubscriptionList
	err := r.Client.List(ctx, &list, client.InNamespace(obj.Namespace), client.MatchingFields{hostIndex: obj.Spec.HostName})
	if err != nil {
		return "", fmt.Errorf("list event subscriptions of host %q: %w", obj.Spec.HostName, err)
	}
	for i := range list.Items {
		other := &list.Items[i]
		if other.UID != obj.UID && older(other, obj) &&
			other.Spec.Destination == obj.Spec.Destination && other.Spec.Context == obj.Spec.Context {
			return other.Name, nil
		}
	}
	return "", nil
}

// older orders objects by age, those of one second by name.
func older(a, b *metal3.BMCEventSubscription) bool {
	if a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.Name < b.Name
	}
	return a.CreationTimestamp.Before(&b.CreationTimestamp)
}

// call makes one call and adds its result to what is known.
func (r *Reconciler) call(ctx context.Context, in *Input, v Verdict) error {
	gateway, err := r.ironics(in.Host)
	if err != nil {
		return err
	}
	uuid, obj := in.Host.Status.Provisioning.ID, in.Object
	switch v.Do {
	case List:
		there, err := gateway.Subscriptions(ctx, uuid)
		in.There = &there
		return err
	case Remove:
		in.There, in.Removed = nil, true
		return gateway.DeleteSubscription(ctx, uuid, v.ID)
	case Create:
		headers, problem, err := r.headers(ctx, obj)
		if err != nil || problem != "" {
			in.Problem = problem
			return err
		}
		id, err := gateway.CreateSubscription(ctx, uuid, ironic.Subscription{
			Destination: obj.Spec.Destination, Context: obj.Spec.Context, Headers: headers,
		})
		if err != nil {
			return err
		}
		obj.Status.SubscriptionID, in.Node = id, uuid
		r.recorder.Record(obj, nil, reconcile.Event{Reason: EventCreated, Message: "The BMC sends its events to " + receiver(obj.Spec.Destination)})
	case Nothing:
	}
	return nil
}

// refused deals with a call that was not accepted, by the kind of the answer.
func (r *Reconciler) refused(in *Input, do Action, err error) error {
	e, typed := errors.AsType[*ironic.Error](err)
	switch {
	case ironic.KindOf(err) == ironic.Busy:
		return reconcile.WaitFor(reconcile.DefaultUnavailable, "whoever holds the node in Ironic")
	case ironic.KindOf(err) == ironic.Gone:
		in.Gone = true
		return r.conclude(in, Decide(*in))
	case typed && (e.Kind == ironic.Rejected || e.Status == http.StatusInternalServerError):
		// Ironic passes on what the BMC could not do as its own failure.
		return r.conclude(in, Verdict{
			Error: "Ironic could not " + do.String() + ": " + withoutDestination(e.Text, in.Object.Spec.Destination), Wait: "the BMC", After: r.proven.failed(in.Object),
		})
	}
	return &reconcile.Unavailable{What: "Ironic", Err: err}
}

// conclude writes the verdict into the object.
func (r *Reconciler) conclude(in *Input, v Verdict) error {
	obj := in.Object
	if v.Error != "" && v.Error != obj.Status.Error {
		r.recorder.Record(obj, nil, reconcile.Event{Warning: true, Reason: EventFailed, Message: v.Error})
	}
	obj.Status.Error = v.Error
	gone := !obj.DeletionTimestamp.IsZero()
	switch {
	case gone && v.Drop:
		r.proven.forget(obj)
		return nil
	case v.Wait != "":
		return reconcile.WaitFor(v.After, "%s", v.Wait)
	case gone:
		return reconcile.WaitFor(0, "a person to fix this: %s", v.Error)
	case v.Error == "" && obj.Status.SubscriptionID != "":
		r.proven.on(obj, in.Host.Status.Provisioning.ID)
	}
	return nil
}

// by finds the subscriptions that refer to an object by one of the indexes.
func (r *Reconciler) by(index string) handler.MapFunc {
	return func(ctx context.Context, obj client.Object) []ctrl.Request {
		var list metal3.BMCEventSubscriptionList
		if err := r.Client.List(ctx, &list, client.InNamespace(obj.GetNamespace()), client.MatchingFields{index: obj.GetName()}); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot list event subscriptions", "of", client.ObjectKeyFromObject(obj))
			return nil
		}
		var requests []ctrl.Request
		for i := range list.Items {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return requests
	}
}

func indexHost(obj client.Object) []string {
	s, ok := obj.(*metal3.BMCEventSubscription)
	if !ok || s.Spec.HostName == "" {
		return nil
	}
	return []string{s.Spec.HostName}
}

func indexSecret(obj client.Object) []string {
	s, ok := obj.(*metal3.BMCEventSubscription)
	if !ok || s.Spec.HTTPHeadersRef == nil {
		return nil
	}
	return []string{s.Spec.HTTPHeadersRef.Name}
}
