package host

import (
	"context"
	"fmt"

	"github.com/ironflow/ironflow/controllers/host/plan"
	"github.com/ironflow/ironflow/controllers/host/policy"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	kreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings;hostfirmwarecomponents,verbs=get;list;watch;create
// +kubebuilder:rbac:groups=metal3.io,resources=hostfirmwaresettings/status;hostfirmwarecomponents/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=metal3.io,resources=hostupdatepolicies,verbs=get;list;watch

// observeFirmware reads the host's firmware resources from the cache, in the
// phases that look at them, and in those from which a pass may go on to one.
func (r *Reconciler) observeFirmware(ctx context.Context, h *metal3.BareMetalHost) (f plan.Firmware, err error) {
	if f.Made = r.options.Firmware == nil; f.Made { // nobody keeps any
		return f, nil
	}
	switch h.Status.Provisioning.State {
	case metal3.StateProvisioning, metal3.StatePoweringOffBeforeDelete, policy.StateDeleting:
		return f, nil
	default:
	}
	if f.Settings, err = r.options.Firmware.Settings(ctx, h); err != nil {
		return f, err
	}
	if f.Components, err = r.options.Firmware.Components(ctx, h); err != nil {
		return f, err
	}
	f.Made = f.Settings != nil && f.Components != nil
	policy, err := r.options.Firmware.Policy(ctx, h)
	if policy != nil {
		f.Policy = policy.Spec
	}
	return f, err
}

// readFirmware has the keeper take over what Ironic knows.
func (p *pass) readFirmware(ctx context.Context, action policy.Action) (err error) {
	o, keeper := &p.o, p.options.Firmware
	switch a := action.(type) {
	case policy.MakeFirmware:
		err := keeper.Make(ctx, o.Host, o.Node.UUID)
		o.Firmware.Made = err == nil
		return err
	case policy.ReadSettings:
		settings, err := keeper.ReadSettings(ctx, o.Host, o.Node.UUID)
		if err == nil {
			o.Firmware.Settings, o.Firmware.SettingsRead = settings, true
		}
		return err
	case policy.ReadComponents:
		components, err := keeper.ReadComponents(ctx, o.Host, o.Node.UUID, a.Done)
		if err == nil {
			o.Firmware.Components, o.Firmware.ComponentsRead = components, true
		}
		return err
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// watchFirmware wakes hosts whose firmware resources have changed.
func watchFirmware(b *builder.Builder) *builder.Builder {
	sameName := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []kreconcile.Request {
		return []kreconcile.Request{ctrl.Request{NamespacedName: client.ObjectKeyFromObject(object)}}
	})
	return b.Watches(&metal3.HostFirmwareSettings{}, sameName).
		Watches(&metal3.HostFirmwareComponents{}, sameName).
		Watches(&metal3.HostUpdatePolicy{}, sameName)
}
