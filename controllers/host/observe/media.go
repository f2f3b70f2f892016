package observe

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// observeMedia asks the gate about a host whose system may want a data image.
func (b *Observer) observeMedia(ctx context.Context, h *metal3.BareMetalHost) (policy.Media, error) {
	if b.Media == nil || !nodespec.InUse(h) {
		return policy.Media{}, nil
	}
	return b.Media.Media(ctx, types.NamespacedName{Namespace: h.Namespace, Name: h.Name})
}
