package observe

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/policy"
)

// observeMedia asks the gate about a host whose system may want a data image, or that
// may still hold one of its former use.
func (b *Observer) observeMedia(ctx context.Context, h *metal3.BareMetalHost) (policy.Media, error) {
	if b.Media == nil {
		return policy.Media{}, nil
	}
	return b.Media.Media(ctx, h)
}
