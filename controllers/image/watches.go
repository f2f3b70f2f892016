package image

import (
	"context"
	"maps"
	"slices"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
)

func (r *Reconciler) imagesOfInfraEnv(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	return r.imagesWhere(ctx, obj, func(i *metal3v1.PreprovisioningImage) bool {
		return i.Labels[names.InfraEnvLabel] == obj.GetName()
	})
}

// imagesOfSecret finds the images that a Secret is part of: as a host's network
// data, or as the pull secret of its environment.
func (r *Reconciler) imagesOfSecret(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list agentv1.InfraEnvList
	if err := r.Client.List(ctx, &list, client.InNamespace(obj.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list InfraEnvs", "namespace", obj.GetNamespace())
	}
	envs := map[string]bool{}
	for i := range list.Items {
		if ref := list.Items[i].Spec.PullSecretRef; ref != nil && ref.Name == obj.GetName() {
			envs[list.Items[i].Name] = true
		}
	}
	return r.imagesWhere(ctx, obj, func(i *metal3v1.PreprovisioningImage) bool {
		return i.Spec.NetworkDataName == obj.GetName() || envs[i.Labels[names.InfraEnvLabel]]
	})
}

// imagesOfMirrors finds the images whose environment has its registry mirrors in a ConfigMap.
func (r *Reconciler) imagesOfMirrors(ctx context.Context, obj client.Object) []ctrlreconcile.Request {
	var list agentv1.InfraEnvList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list InfraEnvs")
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if ref := list.Items[i].Spec.MirrorRegistryRef; ref != nil && ref.Namespace == obj.GetNamespace() && ref.Name == obj.GetName() {
			requests = append(requests, r.imagesOfInfraEnv(ctx, &list.Items[i])...)
		}
	}
	return requests
}

// queue is where sources put objects.
type queue = workqueue.TypedRateLimitingInterface[ctrlreconcile.Request]

// followSettings has every image looked at when base images or settings changed.
// It is a source of the controller.
func (r *Reconciler) followSettings(ctx context.Context, q queue) error {
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-r.options.Changed:
				r.wakeAll(ctx, q)
			}
		}
	}()
	return nil
}

// wakeAll puts every image into the queue, behind those that somebody waits for.
func (r *Reconciler) wakeAll(ctx context.Context, q queue) {
	var list metal3v1.PreprovisioningImageList
	if err := r.Client.List(ctx, &list); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list images")
		return
	}
	for i := range list.Items {
		request := ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])}
		if ordered, ok := q.(priorityqueue.PriorityQueue[ctrlreconcile.Request]); ok {
			ordered.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, request)
			continue
		}
		q.Add(request)
	}
}

// cardsChanged lets a host through whose cards are others, by which its static network is
// found: its card for network boot, and those that an inspection has shown.
type cardsChanged struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (cardsChanged) Update(e event.TypedUpdateEvent[client.Object]) bool {
	old, wasHost := e.ObjectOld.(*metal3v1.BareMetalHost)
	now, isHost := e.ObjectNew.(*metal3v1.BareMetalHost)
	return wasHost && isHost && (old.Spec.BootMACAddress != now.Spec.BootMACAddress || !maps.Equal(cardsOf(old), cardsOf(now)))
}

// hostReleased lets a host through that has lost its finalizer: its image may go. One that is
// deleted with its dependents first is not gone before that.
type hostReleased struct{ predicate.Funcs }

// Update implements predicate.Predicate.
func (hostReleased) Update(e event.TypedUpdateEvent[client.Object]) bool {
	return slices.Contains(e.ObjectOld.GetFinalizers(), names.HostFinalizer) && !slices.Contains(e.ObjectNew.GetFinalizers(), names.HostFinalizer)
}

func (r *Reconciler) imagesWhere(ctx context.Context, obj client.Object, belongs func(*metal3v1.PreprovisioningImage) bool) []ctrlreconcile.Request {
	var list metal3v1.PreprovisioningImageList
	if err := r.Client.List(ctx, &list, client.InNamespace(obj.GetNamespace())); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list images", "namespace", obj.GetNamespace())
		return nil
	}
	var requests []ctrlreconcile.Request
	for i := range list.Items {
		if belongs(&list.Items[i]) {
			requests = append(requests, ctrlreconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
	}
	return requests
}
