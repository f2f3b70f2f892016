package firmware

import (
	"context"
	"errors"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/ironic"
)

// reconciler keeps the firmware resources of one host; its key is the host's.
type reconciler struct {
	client client.Client
	keeper *Keeper
}

// The right to delete is for the owner of what users make by hand; see the controller of hosts.

// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings;hostfirmwarecomponents,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings/status;hostfirmwarecomponents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hostupdatepolicies,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups=metal3.io,resources=firmwareschemas,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts/finalizers,verbs=update

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		r.keeper.unread.forget(req.NamespacedName)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if leftAlone(h) {
		return ctrl.Result{}, nil
	}
	if examined(h) {
		r.keeper.unread.examined(h)
	}
	return resolve(r.pass(ctx, h))
}

// pass keeps the three resources. Those of a host that was registered here exist by
// then, where there is something to tell; a host without settings that could have some
// has come from elsewhere, and its components are looked for as well: before its
// settings, which are the record that this was done.
func (r *reconciler) pass(ctx context.Context, h *metal3.BareMetalHost) error {
	s, err := r.keeper.Settings(ctx, h)
	if err != nil {
		return err
	}
	describable, listable := r.keeper.describable(h, h.Status.Provisioning.ID)
	unread, never := r.keeper.unread.of(h), describable && (s == nil || s.Status.Settings == nil)
	if err := r.components(ctx, h, unread.components || never, listable && describable && s == nil); err != nil {
		return err
	}
	if err := r.settings(ctx, h, s, unread.settings || never, describable); err != nil {
		return err
	}
	if atRest(h) {
		r.keeper.unread.forget(client.ObjectKeyFromObject(h))
	}
	return r.policy(ctx, h)
}

// resolve tells the queue. A conflict means that the host controller was faster.
func resolve(err error) (ctrl.Result, error) {
	if reconcile.IsConflict(err) || apierrors.IsAlreadyExists(err) {
		return reconcile.RetryConflict(), nil
	}
	if unanswered, ok := errors.AsType[*ironic.Error](err); ok {
		return reconcile.Resolve(&reconcile.Unavailable{What: "Ironic", Err: unanswered})
	}
	return reconcile.Resolve(err)
}

// leftAlone reports hosts that nobody may touch, or that have no node.
func leftAlone(h *metal3.BareMetalHost) bool {
	return reconcile.KeptOff(h) != "" || !h.DeletionTimestamp.IsZero() || h.Status.Provisioning.ID == "" ||
		h.Status.OperationalStatus == metal3.OperationalStatusDetached
}

// examined reports a host that Ironic looks at, after which its settings and
// versions may be others.
func examined(h *metal3.BareMetalHost) bool {
	return h.Status.Provisioning.State == metal3.StateRegistering || h.Status.Provisioning.State == metal3.StateInspecting
}

// atRest reports a host of which Ironic has read what there is.
func atRest(h *metal3.BareMetalHost) bool {
	switch h.Status.Provisioning.State {
	case metal3.StateAvailable, metal3.StateReady, metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		return h.Status.OperationalStatus != metal3.OperationalStatusServicing
	default:
		return false
	}
}

// settings keeps HostFirmwareSettings.
func (r *reconciler) settings(ctx context.Context, h *metal3.BareMetalHost, s *metal3.HostFirmwareSettings, unread, describable bool) error {
	if s != nil {
		if err := r.own(ctx, h, s); err != nil {
			return err
		}
	}
	switch {
	case s != nil && s.Status.Settings == nil, unread && (s != nil || describable):
		if !atRest(h) {
			return nil
		}
		_, err := r.keeper.ReadSettings(ctx, h, h.Status.Provisioning.ID)
		return err
	case s == nil || judged(s.Status.Conditions, s.Generation, string(metal3.FirmwareSettingsChangeDetected)):
		return nil
	}
	return r.keeper.JudgeSettings(ctx, s)
}

// components keeps HostFirmwareComponents.
func (r *reconciler) components(ctx context.Context, h *metal3.BareMetalHost, unread, unknown bool) error {
	c, err := r.keeper.Components(ctx, h)
	if err != nil {
		return err
	}
	if c != nil {
		if err := r.own(ctx, h, c); err != nil {
			return err
		}
	}
	switch {
	case c != nil && c.Status.LastUpdated == nil, c != nil && unread, c == nil && unknown:
		if !atRest(h) {
			return nil
		}
		_, err = r.keeper.ReadComponents(ctx, h, h.Status.Provisioning.ID, Outcome{})
		return err
	case c == nil || judged(c.Status.Conditions, c.Generation, string(metal3.HostFirmwareComponentsChangeDetected)):
		return nil
	}
	return r.keeper.JudgeUpdates(ctx, h, c)
}

// policy makes the host the owner of its update policy, so that they go together.
func (r *reconciler) policy(ctx context.Context, h *metal3.BareMetalHost) error {
	p, err := r.keeper.Policy(ctx, h)
	if err != nil || p == nil {
		return err
	}
	return r.own(ctx, h, p)
}

// own makes the host the owner of a resource that somebody made by hand.
func (r *reconciler) own(ctx context.Context, h *metal3.BareMetalHost, object client.Object) error {
	if metav1.IsControlledBy(object, h) || owned(object, h) {
		return nil
	}
	before, ok := object.DeepCopyObject().(client.Object)
	if !ok {
		return nil
	}
	if err := controllerutil.SetOwnerReference(h, object, r.client.Scheme()); err != nil {
		return err
	}
	return r.client.Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func owned(object client.Object, h *metal3.BareMetalHost) bool {
	for _, ref := range object.GetOwnerReferences() {
		if ref.UID == h.UID {
			return true
		}
	}
	return false
}
