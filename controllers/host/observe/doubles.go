package observe

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/ironics"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
	"github.com/ironflow/ironflow/controllers/host/resources"
)

// observeDoubles looks whether the host's machine is another host's, or has another node, and which of its
// network interfaces tell nothing.
func (b *Observer) observeDoubles(ctx context.Context, o *policy.Observed, watch ironics.Table) error {
	others, err := resources.MayBeDoubles(ctx, b.Store.Cache, o.Host)
	if err != nil {
		return err
	}
	o.Double = policy.JudgeDouble(o.Host, others, func(h *metal3.BareMetalHost) bool {
		if id := h.Status.Provisioning.ID; id != "" {
			if _, found := watch.Row(id); found {
				return true
			}
		}
		_, found, _ := watch.Named(nodespec.NodeName(h))
		return found
	})
	_, _, listed := watch.Named(nodespec.NodeName(o.Host))
	o.AtBMC, o.Unlisted = ironics.OtherAtBMC(watch, o.Host), !listed
	o.SharedMACs, err = resources.SharedMACs(ctx, b.Store.Cache, o.Host)
	return err
}
