package media

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// reportingController is what events name as their source.
const reportingController = "metal3.io/dataimage-controller"

// Gateway is the part of Ironic that is used here; *ironic.Gateway implements it.
type Gateway interface {
	Get(ctx context.Context, uuid string) (*ironic.Node, error)
	VirtualMedia(ctx context.Context, uuid string) ([]ironic.MediaDevice, error)
	AttachMedia(ctx context.Context, uuid, imageURL string) error
	DetachMedia(ctx context.Context, uuid string) error
	FailureReason(ctx context.Context, uuid string, since time.Time) (string, error)
}

var _ Gateway = (*ironic.Gateway)(nil)

// Ironics finds the Ironic that a host belongs to.
type Ironics func(h *metal3.BareMetalHost) (Gateway, error)

// Reconciler is the DataImage controller. Make one with [Setup].
type Reconciler struct {
	reconcile.Reconciler[*metal3.DataImage]
	ironics  Ironics
	gate     *Gate
	recorder reconcile.Recorder
}

func newReconciler(c client.Client, ironics Ironics, gate *Gate) *Reconciler {
	r := &Reconciler{ironics: ironics, gate: gate}
	r.Reconciler = reconcile.Reconciler[*metal3.DataImage]{
		Client:    c,
		New:       func() *metal3.DataImage { return &metal3.DataImage{} },
		Finalizer: metal3.DataImageFinalizer,
		Gate:      r.hostAllows,
		Steps:     []reconcile.Step[*metal3.DataImage]{r.own, r.settle},
		Delete:    r.settle,
	}
	return r
}

// Setup registers the controller with the manager. The host controller is given
// the same gate.
func Setup(mgr ctrl.Manager, ironics Ironics, gate *Gate) error {
	r := newReconciler(mgr.GetClient(), ironics, gate)
	r.recorder = reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	return ctrl.NewControllerManagedBy(mgr).
		Named("dataimage").
		For(&metal3.DataImage{}).
		Watches(&metal3.BareMetalHost{}, handler.EnqueueRequestsFromMapFunc(imageOfHost(mgr.GetCache())), builder.WithPredicates(hostMatters{})).
		WatchesRawSource(source.Func(func(_ context.Context, q queue) error {
			gate.onAsked(func(key types.NamespacedName) { q.Add(ctrl.Request{NamespacedName: key}) })
			return nil
		})).
		Complete(r)
}

// imageOfHost finds the DataImage of a host; most hosts have none.
func imageOfHost(cache client.Reader) handler.MapFunc {
	return func(ctx context.Context, host client.Object) []ctrl.Request {
		key := client.ObjectKeyFromObject(host)
		if apierrors.IsNotFound(cache.Get(ctx, key, &metal3.DataImage{})) {
			return nil
		}
		return []ctrl.Request{{NamespacedName: key}}
	}
}

// queue is where the gate puts hosts that are about to start.
type queue = workqueue.TypedRateLimitingInterface[ctrl.Request]

// +kubebuilder:rbac:groups=metal3.io,resources=dataimages,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=metal3.io,resources=dataimages/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=dataimages/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// Reconcile runs one pass for the DataImage named by req.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	result, err := r.Reconciler.Reconcile(ctx, req)
	if apierrors.IsNotFound(r.Client.Get(ctx, req.NamespacedName, &metal3.DataImage{})) {
		r.gate.gone(req.NamespacedName)
	}
	return result, err
}

// hostAllows stops at an image whose host somebody keeps everybody off, and at one
// without a host: there is nothing that its deletion would have to wait for.
func (r *Reconciler) hostAllows(ctx context.Context, image *metal3.DataImage) error {
	h, err := r.host(ctx, image)
	switch {
	case err != nil:
		return err
	case h != nil:
		return reconcile.HandsOff(h)
	case !image.DeletionTimestamp.IsZero():
		return nil
	}
	err = reconcile.NewSaver(r.Client, image).Metadata(ctx, image, func(i *metal3.DataImage) {
		controllerutil.RemoveFinalizer(i, metal3.DataImageFinalizer)
	})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	return reconcile.WaitFor(0, "a BareMetalHost of the same name")
}

// own makes the host the owner, so that the image goes with it.
func (r *Reconciler) own(ctx context.Context, image *metal3.DataImage) error {
	h, err := r.host(ctx, image)
	if err != nil || h == nil {
		return err
	}
	owned := image.DeepCopy()
	if err := controllerutil.SetOwnerReference(h, owned, r.Client.Scheme()); err != nil {
		return fmt.Errorf("own DataImage: %w", err)
	}
	if equality.Semantic.DeepEqual(image.OwnerReferences, owned.OwnerReferences) {
		return nil
	}
	if err := r.Client.Patch(ctx, owned, client.MergeFromWithOptions(image, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("make host %s the owner of its DataImage: %w", h.Name, err)
	}
	return reconcile.WaitFor(0, "the owner to be seen")
}

// maxDecisions bounds a pass: node, media, request, and one spare.
const maxDecisions = 6

// settle alternates decisions and calls until nothing is left to do now.
func (r *Reconciler) settle(ctx context.Context, image *metal3.DataImage) error {
	key := client.ObjectKeyFromObject(image)
	stored := image.Status.DeepCopy()
	h, err := r.host(ctx, image)
	if err != nil {
		return err
	}
	in := Input{Image: image, Host: h}
	for range maxDecisions {
		in.Now = time.Now()
		r.recall(key, &in)
		v := Decide(in)
		if v.Do != Nothing {
			if err := r.call(ctx, &in, v.Do); err != nil {
				return r.refused(&in, v.Do, err)
			}
			continue
		}
		return r.conclude(&in, v, stored)
	}
	return fmt.Errorf("DataImage %s came to no rest", key)
}

// recall adds what the gate remembers.
func (r *Reconciler) recall(key types.NamespacedName, in *Input) {
	v, open := r.gate.visit(key, in.Host)
	in.Open, in.Restart, in.Confirmed, in.Trial, in.Due = open, v.restart, v.confirmed, v.trial, v.due
	in.Since, in.Freed = v.since, v.settled && !v.of.inUse
	if v.tried != "" && v.tried != wish(in.Image) {
		in.Due = time.Time{} // something has changed: a new attempt at once
	}
}

// wish sums up what a person can change to mend a failure.
func wish(image *metal3.DataImage) string {
	return fmt.Sprint(image.Spec.URL, " ", image.Annotations[names.Retry], " ", !image.DeletionTimestamp.IsZero())
}

// call makes one call and adds its result to what is known.
func (r *Reconciler) call(ctx context.Context, in *Input, do Action) error {
	gateway, err := r.ironics(in.Host)
	if err != nil {
		return err
	}
	uuid := in.Host.Status.Provisioning.ID
	switch do {
	case ReadNode:
		n, err := gateway.Get(ctx, uuid)
		in.Node = n
		return err
	case Look:
		devices, err := gateway.VirtualMedia(ctx, uuid)
		in.Devices = &devices
		return err
	case ReadFailure:
		text, err := gateway.FailureReason(ctx, uuid, in.Trial.At.Add(-clocks))
		in.Failure = &text
		return err
	case Attach:
		if err := gateway.AttachMedia(ctx, uuid, in.Image.Spec.URL); err != nil {
			return err
		}
	case Detach:
		if err := gateway.DetachMedia(ctx, uuid); err != nil {
			return err
		}
	case Nothing:
	}
	// Ironic works on it; the node has to be read anew to see the end.
	r.gate.update(client.ObjectKeyFromObject(in.Image), func(v *visit) { v.trial = Trial{Do: do, At: in.Now} })
	in.Node, in.Devices, in.Failure = nil, nil, nil
	return nil
}

// refused deals with a call that was not accepted, by the kind of the answer.
func (r *Reconciler) refused(in *Input, do Action, err error) error {
	e, typed := errors.AsType[*ironic.Error](err)
	switch {
	case ironic.KindOf(err) == ironic.Busy:
		return reconcile.WaitFor(lookSoon, "whoever holds the node in Ironic")
	case ironic.KindOf(err) == ironic.Gone:
		return reconcile.WaitFor(reconcile.DefaultUnavailable, "the node to be in Ironic again")
	case typed && (e.Kind == ironic.Rejected || e.Status == http.StatusInternalServerError):
		// Ironic passes on what the BMC could not do as its own failure.
		v := Verdict{Status: *in.Image.Status.DeepCopy()}
		failed(*in, &v, "Ironic could not "+do.String()+": "+e.Text)
		return r.conclude(in, v, in.Image.Status.DeepCopy())
	}
	r.gate.update(client.ObjectKeyFromObject(in.Image), func(v *visit) { v.note = err.Error() })
	return &reconcile.Unavailable{What: "Ironic", Err: err}
}

// conclude writes the verdict into the object and tells the host.
func (r *Reconciler) conclude(in *Input, v Verdict, stored *metal3.DataImageStatus) error {
	image := in.Image
	image.Status = v.Status
	saved := equality.Semantic.DeepEqual(*stored, v.Status)
	if v.Event != nil {
		r.recorder.Record(image, in.Host, *v.Event)
	}
	key := client.ObjectKeyFromObject(image)
	switch {
	case v.Over && saved && !InUse(in.Host):
		r.gate.gone(key) // nothing is left to eject
	case v.Over:
		r.gate.Started(key)
	}
	r.gate.update(key, func(u *visit) {
		u.note = v.Wait
		if v.Settled {
			u.confirmed = wanted(*in)
		}
		// The machine may start once the status says what it starts with; the write
		// that is still to come wakes us again.
		u.settled = v.Settled && saved
		switch {
		case v.Failed:
			u.trial, u.tried, u.due = Trial{}, wish(image), in.Now.Add(v.After)
		case !saved:
			u.trial = Trial{}
		}
	})
	switch {
	case v.Drop && !image.DeletionTimestamp.IsZero():
		return nil
	case v.Wait != "":
		return reconcile.WaitFor(v.After, "%s", v.Wait)
	case !image.DeletionTimestamp.IsZero():
		return reconcile.WaitFor(0, "the host's next power-on")
	}
	return nil
}

// host reads the host of the same name; nil when there is none.
func (r *Reconciler) host(ctx context.Context, image *metal3.DataImage) (*metal3.BareMetalHost, error) {
	h := &metal3.BareMetalHost{}
	err := r.Client.Get(ctx, client.ObjectKeyFromObject(image), h)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no host is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("read the host of DataImage %s: %w", image.Name, err)
	}
	return h, nil
}

// hostMatters lets changes of a host through that a decision depends on.
type hostMatters struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (hostMatters) Update(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*metal3.BareMetalHost)
	after, isHost := e.ObjectNew.(*metal3.BareMetalHost)
	if !ok || !isHost {
		return false
	}
	view := func(h *metal3.BareMetalHost) [7]any {
		return [7]any{
			h.Spec.Online,
			h.Status.Provisioning.State, h.Status.Provisioning.ID, h.Status.OperationalStatus, h.Status.PoweredOn,
			reconcile.KeptOff(h), h.DeletionTimestamp.IsZero(),
		}
	}
	return view(before) != view(after)
}
