package subscription

import (
	"context"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// headers reads the HTTP headers that a BMC shall send with its events: each key
// of the Secret is one. What is wrong with the Secret is the problem; the error is
// for an API server that does not answer.
func (r *Reconciler) headers(ctx context.Context, obj *metal3.BMCEventSubscription) (headers map[string]string, problem string, err error) {
	ref := obj.Spec.HTTPHeadersRef
	if ref == nil {
		return nil, "", nil
	}
	if ref.Namespace != "" && ref.Namespace != obj.Namespace {
		return nil, fmt.Sprintf("spec.httpHeadersRef names a Secret in namespace %q: it must be in %q, as this object is", ref.Namespace, obj.Namespace), nil
	}
	key := types.NamespacedName{Namespace: obj.Namespace, Name: ref.Name}
	secret := &corev1.Secret{}
	err = r.Client.Get(ctx, key, secret)
	if apierrors.IsNotFound(err) {
		err = r.live.Get(ctx, key, secret) // the cache may hold labelled ones only
	}
	if apierrors.IsNotFound(err) {
		return nil, fmt.Sprintf("the Secret %q with the HTTP headers does not exist: create it, one key per header", ref.Name), nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read Secret %s: %w", key, err)
	}
	headers = map[string]string{}
	for name, value := range secret.Data {
		headers[name] = strings.TrimSpace(string(value))
	}
	return headers, "", r.label(ctx, secret)
}

// label makes the cache see a Secret, so that a change of it wakes us.
func (r *Reconciler) label(ctx context.Context, secret *corev1.Secret) error {
	if secret.Labels[names.EnvironmentLabel] == names.EnvironmentValue {
		return nil
	}
	before := secret.DeepCopy()
	if secret.Labels == nil {
		secret.Labels = map[string]string{}
	}
	secret.Labels[names.EnvironmentLabel] = names.EnvironmentValue
	if err := r.Client.Patch(ctx, secret, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("label Secret %s: %w", client.ObjectKeyFromObject(secret), err)
	}
	return nil
}
