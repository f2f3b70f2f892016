package claim

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/ironflow/ironflow/controllers/reconcile"
)

func indexConsumer(obj client.Object) []string {
	h, ok := obj.(*metal3.BareMetalHost)
	if !ok || h.Spec.ConsumerRef == nil || h.Spec.ConsumerRef.Kind != "HostClaim" {
		return nil
	}
	return []string{types.NamespacedName{Namespace: h.Spec.ConsumerRef.Namespace, Name: h.Spec.ConsumerRef.Name}.String()}
}

// claimsOfHost wakes the claim of a host; a free one wakes those that wait for it.
func (r *Reconciler) claimsOfHost(ctx context.Context, obj client.Object) []ctrl.Request {
	h, ok := obj.(*metal3.BareMetalHost)
	if !ok {
		return nil
	}
	var requests []ctrl.Request
	if ref := h.Spec.ConsumerRef; ref != nil && ref.Kind == "HostClaim" {
		requests = append(requests, ctrl.Request{NamespacedName: types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}})
	}
	return append(requests, r.claimsWhere(ctx, func(c *metal3.HostClaim) bool {
		if ref := hostOf(c); ref != nil {
			return ref.Namespace == h.Namespace && ref.Name == h.Name
		}
		return free(h)
	})...)
}

// claimsOfPolicy wakes the claims that wait for a host, and says what is probably
// not meant in the policy.
func (r *Reconciler) claimsOfPolicy(ctx context.Context, obj client.Object) []ctrl.Request {
	if p, ok := obj.(*metal3.HostDeployPolicy); ok && p.DeletionTimestamp.IsZero() {
		if warning := Warning(p); warning != "" {
			r.recorder.Record(p, nil, reconcile.Event{Warning: true, Reason: EventPolicy, Message: warning})
		}
	}
	return r.claimsWhere(ctx, func(c *metal3.HostClaim) bool { return hostOf(c) == nil })
}

// EventPolicy is the reason of the event about a policy that is probably not as meant.
const EventPolicy = "PolicyDoubtful"

// claimsOfNamespace wakes the claims of a namespace whose labels have changed.
func (r *Reconciler) claimsOfNamespace(ctx context.Context, obj client.Object) []ctrl.Request {
	return r.claimsWhere(ctx, func(c *metal3.HostClaim) bool {
		return c.Namespace == obj.GetName() && hostOf(c) == nil
	})
}

// claimsOfSecret wakes the claims that refer to a Secret.
func (r *Reconciler) claimsOfSecret(ctx context.Context, obj client.Object) []ctrl.Request {
	return r.claimsWhere(ctx, func(c *metal3.HostClaim) bool {
		if string(c.UID) == obj.GetLabels()[claimLabel] {
			return true
		}
		for _, kind := range kindsOfSecrets {
			if ref := kind.of(c); ref != nil && c.Namespace == obj.GetNamespace() && ref.Name == obj.GetName() {
				return true
			}
		}
		return false
	})
}

func (r *Reconciler) claimsWhere(ctx context.Context, belongs func(*metal3.HostClaim) bool) []ctrl.Request {
	var list metal3.HostClaimList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list host claims")
		return nil
	}
	var requests []ctrl.Request
	for i := range list.Items {
		if belongs(&list.Items[i]) {
			requests = append(requests, ctrl.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}

// hostMatters lets changes of a host through that a claim depends on.
type hostMatters struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (hostMatters) Update(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*metal3.BareMetalHost)
	after, isHost := e.ObjectNew.(*metal3.BareMetalHost)
	if !ok || !isHost {
		return false
	}
	return !equality.Semantic.DeepEqual(before.Spec, after.Spec) || !equality.Semantic.DeepEqual(before.Labels, after.Labels) ||
		keptOff(before) != keptOff(after) || free(before) != free(after) ||
		before.DeletionTimestamp.IsZero() != after.DeletionTimestamp.IsZero() ||
		before.Status.Provisioning.State != after.Status.Provisioning.State ||
		before.Status.PoweredOn != after.Status.PoweredOn || before.Status.ErrorMessage != after.Status.ErrorMessage ||
		!equality.Semantic.DeepEqual(before.Status.Conditions, after.Status.Conditions)
}
