package subscription

import (
	"context"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/secretcache"
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
	reader := secretcache.Reader{Client: r.Client, Live: r.live}
	secret, found, err := reader.Get(ctx, key)
	if err != nil {
		return nil, "", err
	}
	if !found {
		return nil, fmt.Sprintf("the Secret %q with the HTTP headers does not exist: create it, one key per header", ref.Name), nil
	}
	headers = map[string]string{}
	for name, value := range secret.Data {
		headers[name] = strings.TrimSpace(string(value))
	}
	return headers, "", reader.Mark(ctx, secret)
}
