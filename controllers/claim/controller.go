package claim

import (
	"context"
	"fmt"
	"time"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/controllers/secretcache"
)

// reportingController is what events name as their source.
const reportingController = "metal3.io/hostclaim-controller"

// Reconciler is the HostClaim controller. Make one with [Setup].
type Reconciler struct {
	reconcile.Reconciler[*metal3.HostClaim]
	live     client.Reader
	recorder reconcile.Recorder
}

func newReconciler(c client.Client, live client.Reader) *Reconciler {
	r := &Reconciler{live: live}
	r.Reconciler = reconcile.Reconciler[*metal3.HostClaim]{
		Client:    c,
		New:       func() *metal3.HostClaim { return &metal3.HostClaim{} },
		Finalizer: metal3.HostClaimFinalizer,
		Gate:      here,
		Note:      r.note,
		Steps:     []reconcile.Step[*metal3.HostClaim]{r.settle},
		Delete:    r.settle,
	}
	return r
}

// here lets nothing be written to a claim that is elsewhere now: a finalizer that were put back would keep it.
func here(_ context.Context, c *metal3.HostClaim) error {
	if reconcile.Moved(c) && c.DeletionTimestamp.IsZero() {
		return reconcile.WaitFor(0, "who moves the claim to delete it here")
	}
	return nil
}

// note records a claim's host in its metadata, which comes along where a backup or a move leaves the status out.
func (r *Reconciler) note(ctx context.Context, c *metal3.HostClaim) (func(*metal3.HostClaim), error) {
	h, err := r.bound(ctx, c)
	if err != nil {
		return nil, err
	}
	return func(c *metal3.HostClaim) {
		if h != nil && consumes(c, h) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, names.BoundHost, nameOf(h))
		}
	}, nil
}

// consumerIndex finds hosts by the claim that their consumerRef names.
const consumerIndex = "ironflow.claim.consumer"

// Setup registers the controller with the manager.
func Setup(mgr ctrl.Manager) error {
	r := newReconciler(mgr.GetClient(), mgr.GetAPIReader())
	r.recorder = reconcile.Recorder{Sink: mgr.GetEventRecorder(reportingController)}
	err := mgr.GetFieldIndexer().IndexField(context.Background(), &metal3.BareMetalHost{}, consumerIndex, indexConsumer)
	if err != nil {
		return fmt.Errorf("index hosts by their consumer: %w", err)
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("hostclaim").
		For(&metal3.HostClaim{}).
		Watches(&metal3.BareMetalHost{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfHost), builder.WithPredicates(hostMatters{})).
		Watches(&metal3.HostDeployPolicy{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfPolicy)).
		Watches(&corev1.Namespace{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfNamespace)).
		Watches(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfSecret)).
		WatchesMetadata(&corev1.Secret{}, handler.EnqueueRequestsFromMapFunc(r.claimsOfSecret), builder.WithPredicates(secretcache.Unlabelled)).
		Complete(r)
}

// +kubebuilder:rbac:groups=metal3.io,resources=hostclaims,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hostclaims/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hostclaims/finalizers,verbs=update
// +kubebuilder:rbac:groups=metal3.io,resources=hostdeploypolicies,verbs=get;list;watch
// +kubebuilder:rbac:groups=metal3.io,resources=baremetalhosts,verbs=get;list;watch;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hardwaredata,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;update;patch;delete
// +kubebuilder:rbac:groups="";events.k8s.io,resources=events,verbs=create;patch;update

// maxDecisions bounds a pass: bind, Secrets, spec, and spares.
const maxDecisions = 8

// settle alternates decisions and actions until nothing is left to do now.
func (r *Reconciler) settle(ctx context.Context, c *metal3.HostClaim) error {
	for range maxDecisions {
		in, err := r.observe(ctx, c)
		if err != nil {
			return err
		}
		v := Decide(in)
		if v.Do == Nothing {
			return r.conclude(in, v)
		}
		if err := r.act(ctx, in, v); err != nil {
			if apierrors.IsConflict(err) {
				// Somebody else was faster, or our copy is old: the next pass sees it.
				report(in, v)
				return reconcile.WaitFor(hurry(c), "a fresh copy of the host")
			}
			if apierrors.IsForbidden(err) {
				v.Synchronized = Condition{
					Reason: metal3.BareMetalHostNotSynchronizedReason, Message: "Ironflow lacks a right: " + err.Error() + ". Next: kubectl apply -k config/hostclaims",
				}
				report(in, v)
			}
			return err
		}
	}
	return fmt.Errorf("HostClaim %s came to no rest", client.ObjectKeyFromObject(c))
}

// hurry is a short pause that differs between claims, so that those who lost the
// same host do not meet at the next one.
func hurry(c *metal3.HostClaim) time.Duration {
	const least, spread = 100 * time.Millisecond, 900 * time.Millisecond
	return least + time.Duration(lot(c, &metal3.BareMetalHost{})%uint64(spread))
}

// observe reads what decides, all of it from the cache.
func (r *Reconciler) observe(ctx context.Context, c *metal3.HostClaim) (Input, error) {
	in := Input{Claim: c}
	h, err := r.bound(ctx, c)
	if err != nil {
		return in, err
	}
	in.Host = h
	if h == nil {
		if c.DeletionTimestamp.IsZero() && hostOf(c) == nil {
			err = r.observeChoice(ctx, &in)
		}
		return in, err
	}
	err = r.Client.Get(ctx, client.ObjectKeyFromObject(h), &metal3.HardwareData{})
	in.Hardware = err == nil
	if client.IgnoreNotFound(err) != nil {
		return in, fmt.Errorf("read HardwareData of host %s: %w", nameOf(h), err)
	}
	in.Secrets, err = r.secrets(ctx, c, h)
	return in, err
}

// bound finds the host of a claim: by its consumerRef, else by the claim's status. Of a host that the annotation alone names,
// and that is not the claim's, nothing is told: whoever may write claims writes annotations, too.
func (r *Reconciler) bound(ctx context.Context, c *metal3.HostClaim) (*metal3.BareMetalHost, error) {
	var list metal3.BareMetalHostList
	err := r.Client.List(ctx, &list, client.MatchingFields{consumerIndex: client.ObjectKeyFromObject(c).String()})
	if err != nil {
		return nil, fmt.Errorf("list the hosts of claim %s: %w", c.Name, err)
	}
	ref := hostOf(c)
	for i := range list.Items {
		if h := &list.Items[i]; ref == nil || h.Namespace == ref.Namespace && h.Name == ref.Name {
			return h, nil
		}
	}
	if c.Status.BareMetalHost == nil {
		return nil, nil //nolint:nilnil // not bound is an answer
	}
	h := &metal3.BareMetalHost{}
	err = r.Client.Get(ctx, types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}, h)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // the host is gone
	}
	if err != nil {
		return nil, fmt.Errorf("read host %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return h, nil
}

// observeChoice reads policies and hosts for a claim without a host.
func (r *Reconciler) observeChoice(ctx context.Context, in *Input) error {
	ns := &corev1.Namespace{}
	if err := r.Client.Get(ctx, types.NamespacedName{Name: in.Claim.Namespace}, ns); err != nil {
		return fmt.Errorf("read namespace %s: %w", in.Claim.Namespace, err)
	}
	var policies metal3.HostDeployPolicyList
	if err := r.Client.List(ctx, &policies); err != nil {
		return fmt.Errorf("list HostDeployPolicies: %w", err)
	}
	in.Admitted = Admitted(policies.Items, Namespace{Name: ns.Name, Labels: ns.Labels})
	var hosts []*metal3.BareMetalHost
	for _, namespace := range in.Admitted {
		var list metal3.BareMetalHostList
		if err := r.Client.List(ctx, &list, client.InNamespace(namespace)); err != nil {
			return fmt.Errorf("list hosts: %w", err)
		}
		for i := range list.Items {
			hosts = append(hosts, &list.Items[i])
		}
	}
	candidates, err := Candidates(in.Claim, hosts, in.Admitted)
	if err != nil {
		in.Unreadable = err.Error()
	}
	in.Candidates = candidates
	return nil
}

// act does one thing.
func (r *Reconciler) act(ctx context.Context, in Input, v Verdict) error {
	switch v.Do {
	case Bind:
		if err := r.write(ctx, v.Host, func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = consumerRef(in.Claim) }); err != nil {
			return err
		}
		r.tell(in.Claim, v.Host, reconcile.Event{Reason: metal3.BareMetalHostAssociatedReason, Message: "Host " + nameOf(v.Host) + " was bound to claim " + in.Claim.Namespace + "/" + in.Claim.Name})
		return nil
	case HandOver:
		return r.handOver(ctx, v.Host, in.Secrets)
	case Write:
		return r.write(ctx, v.Host, func(h *metal3.BareMetalHost) { h.Spec = *v.Spec })
	case Withdraw:
		return r.withdraw(ctx, in.Claim, v.Host)
	case Release:
		if err := r.write(ctx, v.Host, func(h *metal3.BareMetalHost) { h.Spec.ConsumerRef = nil }); err != nil {
			return err
		}
		r.tell(in.Claim, v.Host, reconcile.Event{Reason: EventReleased, Message: "Host " + nameOf(v.Host) + " was released by claim " + in.Claim.Namespace + "/" + in.Claim.Name})
		return nil
	case Nothing:
	}
	return nil
}

// EventReleased is the reason of the event that a host is free again.
const EventReleased = "HostReleased"

// tell publishes an event about the claim and the same about the host.
func (r *Reconciler) tell(c *metal3.HostClaim, h *metal3.BareMetalHost, e reconcile.Event) {
	r.recorder.Record(c, h, e)
	r.recorder.Record(h, c, e)
}

// write changes a host that is as it was read, else the API server refuses.
func (r *Reconciler) write(ctx context.Context, h *metal3.BareMetalHost, change func(*metal3.BareMetalHost)) error {
	after := h.DeepCopy()
	change(after)
	err := r.Client.Patch(ctx, after, client.MergeFromWithOptions(h, client.MergeFromWithOptimisticLock{}))
	if err != nil {
		return fmt.Errorf("write host %s: %w", nameOf(h), err)
	}
	return nil
}

// conclude writes the verdict into the claim.
func (r *Reconciler) conclude(in Input, v Verdict) error {
	report(in, v)
	switch {
	case v.Drop && !in.Claim.DeletionTimestamp.IsZero():
		return nil
	case v.Wait != "":
		return reconcile.WaitFor(v.After, "%s", v.Wait)
	}
	return nil
}
