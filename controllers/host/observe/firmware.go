package observe

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// observeFirmware reads the host's firmware resources from the cache, in the
// phases that look at them, and in those from which a pass may go on to one: a host that is
// restored as being deployed goes on as one whose machine is serviced.
func (b *Observer) observeFirmware(ctx context.Context, h *metal3.BareMetalHost) (f plan.Firmware, err error) {
	if f.Made = b.Firmware == nil; f.Made { // nobody keeps any
		return f, nil
	}
	switch h.Status.Provisioning.State {
	case metal3.StatePoweringOffBeforeDelete, policy.StateDeleting:
		return f, nil
	default:
	}
	if f.Settings, err = b.Firmware.Settings(ctx, h); err != nil {
		return f, err
	}
	if f.Components, err = b.Firmware.Components(ctx, h); err != nil {
		return f, err
	}
	f.Made = f.Settings != nil && f.Components != nil
	policy, err := b.Firmware.Policy(ctx, h)
	if policy != nil {
		f.Policy = policy.Spec
	}
	return f, err
}
