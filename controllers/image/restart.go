package image

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/reconcile"
)

// forcedReboot is the value of the reboot annotation that counts also for a host
// without an operating system.
const forcedReboot = `{"force": true}`

// remember notes on the object which image its host waits in, before the status
// loses the address. It is a pass of its own, and survives a restart; a host that
// does not wait in its image is not written about.
func (r *Reconciler) remember(ctx context.Context, in Input) error {
	if in.Image.Status.ImageUrl == "" || in.Image.Annotations[names.ReplacedImage] != "" || !waitsInImage(in) {
		return nil
	}
	if err := r.note(ctx, in.Image, addressDigest(in.Image.Status.ImageUrl)); err != nil {
		return err
	}
	return reconcile.WaitFor(nextPass, "the note about the image that the host waits in")
}

// restartWaiting asks for a reboot of a host that waits in the image which was
// replaced, so that it comes up with the new one. It does so only when saved says
// that everybody can read the new address; a request that fails is made again.
func (r *Reconciler) restartWaiting(ctx context.Context, in Input, saved bool) error {
	replaced := in.Image.Annotations[names.ReplacedImage]
	switch {
	case replaced == "":
		return nil
	case !saved:
		return reconcile.WaitFor(nextPass, "the new image to be handed out")
	}
	if replaced != addressDigest(in.Image.Status.ImageUrl) && waitsInImage(in) {
		if err := r.askForReboot(ctx, in.Host); err != nil {
			return err
		}
	}
	return r.note(ctx, in.Image, "")
}

// askForReboot writes to the host as it was looked at: a reboot that reaches it after it has
// begun something else would start that over.
func (r *Reconciler) askForReboot(ctx context.Context, host *metal3v1.BareMetalHost) error {
	patch := client.MergeFromWithOptions(host.DeepCopy(), client.MergeFromWithOptimisticLock{})
	if host.Annotations == nil {
		host.Annotations = map[string]string{}
	}
	host.Annotations[names.Reboot] = forcedReboot
	err := r.Client.Patch(ctx, host, patch)
	if reconcile.IsConflict(err) {
		return reconcile.WaitFor(nextPass, "a fresh copy of the host")
	}
	if err != nil {
		return fmt.Errorf("ask for a reboot into the new live image: %w", err)
	}
	return nil
}

// note sets or removes the annotation with the replaced image. The object itself
// stays as it was read, for its status to be compared with.
func (r *Reconciler) note(ctx context.Context, image *metal3v1.PreprovisioningImage, digest string) error {
	after := image.DeepCopy()
	if after.Annotations == nil {
		after.Annotations = map[string]string{}
	}
	after.Annotations[names.ReplacedImage] = digest
	if digest == "" {
		delete(after.Annotations, names.ReplacedImage)
	}
	if err := r.Client.Patch(ctx, after, client.MergeFrom(image)); err != nil {
		return fmt.Errorf("note the image that is replaced: %w", err)
	}
	return nil
}

// waitsInImage tells whether the host runs a live image with the agent, and
// nothing is under way that a reboot would break. A host that boots by itself
// later, or has an operating system, is left alone.
func waitsInImage(in Input) bool {
	if !in.Labelled || in.Host == nil {
		return false
	}
	_, asked := in.Host.Annotations[names.Reboot]
	return !asked && in.Host.Status.PoweredOn && in.Host.Status.Provisioning.State == metal3v1.StateAvailable
}

// addressDigest stands for an address where the address itself, which opens the
// host's config, is not to be repeated.
func addressDigest(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:8])
}
