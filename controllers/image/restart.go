package image

import (
	"context"
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
)

// forcedReboot is the value of the reboot annotation that counts also for a host
// without an operating system.
const forcedReboot = `{"force": true}`

// restartWaiting asks for a reboot of a host that waits in its old live image, so
// that it comes up with the new one. It runs before the new address is recorded:
// a request that fails is made again with the next pass.
func (r *Reconciler) restartWaiting(ctx context.Context, in Input, url string) error {
	if !waitsInOldImage(in, url) {
		return nil
	}
	patch := client.MergeFrom(in.Host.DeepCopy())
	if in.Host.Annotations == nil {
		in.Host.Annotations = map[string]string{}
	}
	in.Host.Annotations[names.Reboot] = forcedReboot
	if err := r.Client.Patch(ctx, in.Host, patch); err != nil {
		return fmt.Errorf("ask for a reboot into the new live image: %w", err)
	}
	return nil
}

// waitsInOldImage tells whether the host runs a live image with the agent that is
// about to be replaced, and nothing is under way that a reboot would break. A
// host that boots by itself later, or has an operating system, is left alone.
func waitsInOldImage(in Input, url string) bool {
	old := in.Image.Status.ImageUrl
	if !in.Labelled || in.Host == nil || old == "" || old == url {
		return false
	}
	_, asked := in.Host.Annotations[names.Reboot]
	return !asked && in.Host.Status.PoweredOn && in.Host.Status.Provisioning.State == metal3v1.StateAvailable
}
