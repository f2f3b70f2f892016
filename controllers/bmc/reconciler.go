package bmc

import (
	"context"
	"errors"
	"sync"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	kclient "sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/ironflow/v1alpha1"
	"github.com/ironflow/ironflow/bmc/client"
	"github.com/ironflow/ironflow/controllers/bmcstatus"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// reconciler keeps the BMC of one host; its key is the host's.
type reconciler struct {
	client  kclient.Client
	secrets secretcache.Reader
	status  bmcstatus.Writer
	options Options
	// wake has a pass made for a host.
	wake func(key types.NamespacedName)

	turns turns

	mu       sync.Mutex
	failures map[types.NamespacedName]int    // probes that failed in a row
	verdicts map[types.NamespacedName]string // digests of what InSync is about
}

// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=ironflow.io,resources=bmcs/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts;hostfirmwaresettings;hostfirmwarecomponents;preprovisioningimages,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch

// Reconcile runs one pass for the host named by req.
func (r *reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	h := &metal3.BareMetalHost{}
	if err := r.client.Get(ctx, req.NamespacedName, h); err != nil {
		r.forget(req.NamespacedName)
		return ctrl.Result{}, kclient.IgnoreNotFound(err)
	}
	h = readOf(h)
	switch {
	case !h.DeletionTimestamp.IsZero():
		r.forget(req.NamespacedName)
		return ctrl.Result{}, nil // its BMC goes with it
	case reconcile.KeptOff(h) != "", !known(h):
		return ctrl.Result{}, nil // a change of the host wakes it
	}
	b, err := r.object(ctx, h)
	if err != nil {
		return resolve(err)
	}
	before := b.DeepCopy()
	after, err := r.pass(ctx, h, b)
	summarise(b, err)
	if saved := r.status.Save(ctx, before, b); saved != nil {
		return resolve(saved)
	}
	result, err := resolve(err)
	return within(result, err, after), err
}

// known reports a host that has got so far that its BMC is asked: the host controller
// says what is wrong with the address and the Secret before that.
func known(h *metal3.BareMetalHost) bool {
	switch h.Status.Provisioning.State {
	case metal3.StateNone, metal3.StateUnmanaged:
		return false
	default:
		return h.Spec.BMC.Address != ""
	}
}

// object reads the host's BMC, or makes it. The host owns it.
func (r *reconciler) object(ctx context.Context, h *metal3.BareMetalHost) (*v1alpha1.BMC, error) {
	b := &v1alpha1.BMC{}
	err := r.client.Get(ctx, kclient.ObjectKeyFromObject(h), b)
	switch {
	case err == nil && ofFormer(b, h):
		return b, r.takeOver(ctx, h, b)
	case err == nil || !apierrors.IsNotFound(err):
		return b, err
	}
	b = &v1alpha1.BMC{ObjectMeta: metav1.ObjectMeta{Namespace: h.Namespace, Name: h.Name}}
	if err := r.own(h, b); err != nil {
		return nil, err
	}
	return b, r.client.Create(ctx, b)
}

// pass does what is due, in order. It changes the status in memory only. The verdict on
// the wishes comes in any case: what is not known of a BMC is no obstacle for its host.
// It returns when the verdict is looked at again; 0 for when something changes.
func (r *reconciler) pass(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (after time.Duration, err error) {
	o, unread := objectsOf(ctx, r.client, r.options.LiveImage, h)
	t, c, err := r.connect(ctx, h, b)
	if err == nil {
		err = r.probe(ctx, h, b, o, t, c)
	}
	if err != nil {
		c = nil
	}
	switch {
	case unread == nil:
		after = r.judge(ctx, h, b, o, c)
		r.inSync(ctx, h, b, o, c)
	case err == nil:
		err = unread
	}
	return after, err
}

// connect makes the client of the host's BMC.
func (r *reconciler) connect(ctx context.Context, h *metal3.BareMetalHost, b *v1alpha1.BMC) (client.Target, *client.Client, error) {
	t, err := r.target(ctx, h, b)
	if err != nil {
		return t, nil, err
	}
	c, err := r.options.BMCs.Client(kclient.ObjectKeyFromObject(h).String(), t)
	if err != nil {
		return t, nil, reconcile.Stall(ReasonBadAddress, "spec.bmc of the host: %w", err)
	}
	return t, c, nil
}

// resolve tells the queue.
func resolve(err error) (ctrl.Result, error) {
	if apierrors.IsAlreadyExists(err) {
		return reconcile.RetryConflict(), nil
	}
	return bmcstatus.Outcome(0, err)
}

// forget lets go of what is kept of a host.
func (r *reconciler) forget(key types.NamespacedName) {
	r.options.BMCs.Drop(key.String())
	r.succeeded(key)
	r.setCompared(key, "")
}

// failed counts a probe that failed, and returns how many did in a row.
func (r *reconciler) failed(key types.NamespacedName) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures[key]++
	return r.failures[key]
}

func (r *reconciler) succeeded(key types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failures, key)
}

// compared is the digest of what InSync is about; empty after a start.
func (r *reconciler) compared(key types.NamespacedName) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.verdicts[key]
}

func (r *reconciler) setCompared(key types.NamespacedName, digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if digest == "" {
		delete(r.verdicts, key)
		return
	}
	r.verdicts[key] = digest
}

// kindOf is the kind of a BMC's refusal; empty for another error.
func kindOf(err error) client.Kind {
	if e, ok := errors.AsType[*client.Error](err); ok {
		return e.Kind
	}
	return ""
}
