package execute

import (
	"context"
	"fmt"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/host/policy"
)

// onKubernetes performs an action on the API server.
func (w *Work) onKubernetes(ctx context.Context, action policy.Action) error {
	o, h := &w.Known, w.Known.Host
	switch a := action.(type) {
	case policy.Claim:
		return w.claim(ctx, a)
	case policy.TakeSlot:
		w.Slots.Take(o)
		return nil
	case policy.AskImage:
		image, err := w.Store.AskImage(ctx, h, a.Spec)
		if err != nil {
			return err
		}
		err = w.judgeImage(ctx, image, a.Spec)
		o.Image.Asked = true
		return err
	case policy.LabelImage:
		image, err := w.Store.LabelImage(ctx, h)
		if err != nil {
			return err
		}
		err = w.judgeImage(ctx, image, nodespec.ImageSpec(o.NodeInput()))
		o.Image.Unlike = false
		return err
	case policy.SaveHardware:
		if err := w.Store.SaveHardware(ctx, h, a.Details); err != nil {
			return err
		}
		o.Hardware = a.Details
		return nil
	case policy.ReadConfigDrive:
		drive, err := w.Store.ConfigDrive(ctx, h)
		o.ConfigDrive = drive
		return err
	case policy.ReadPullSecret:
		secret, err := w.Store.PullSecret(ctx, h)
		o.PullSecret = secret
		return err
	case policy.RecordDeployed:
		return w.Saver.Metadata(ctx, h, func(h *metal3.BareMetalHost) {
			if delete(h.Annotations, names.Deployed); a.Digest != "" {
				metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Deployed, a.Digest)
			}
		})
	case policy.Restore:
		return w.restore(ctx, a)
	case policy.Release:
		return w.release(ctx)
	case policy.Announce:
		return w.announce(ctx, a)
	case policy.SettleMedia:
		w.Media.Ask(h, a.Restart)
		o.Media.Asked = true
		return nil
	}
	return fmt.Errorf("action %q has no executor", action.Name())
}

// judgeImage reads what the host's image is after a write of it.
func (w *Work) judgeImage(ctx context.Context, image *metal3.PreprovisioningImage, want metal3.PreprovisioningImageSpec) (err error) {
	o := &w.Known
	o.Image, err = w.Store.JudgeImage(ctx, o.Host, image, want, o.Settings.LiveImageFor(want.Architecture).Kernel)
	return err
}

// claim puts finalizer and assignment on the host, in one write.
func (w *Work) claim(ctx context.Context, a policy.Claim) error {
	err := w.Saver.Metadata(ctx, w.Known.Host, func(h *metal3.BareMetalHost) {
		controllerutil.AddFinalizer(h, names.HostFinalizer)
		if w.Known.Ironic.Unwritten {
			metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Ironic, a.Ironic)
		}
	})
	if err != nil {
		return err
	}
	w.Known.Ironic.Unwritten = false
	return nil
}

// release drops every hold on a host's objects, its own finalizer last.
func (w *Work) release(ctx context.Context) error {
	h := w.Known.Host
	if err := w.Store.Release(ctx, h); err != nil {
		return err
	}
	err := w.Saver.Metadata(ctx, h, func(h *metal3.BareMetalHost) { controllerutil.RemoveFinalizer(h, names.HostFinalizer) })
	w.Gone = client.IgnoreNotFound(err) == nil
	return client.IgnoreNotFound(err)
}

// announce writes down that a restart is about to be asked for, in the place of what
// asked for it.
func (w *Work) announce(ctx context.Context, a policy.Announce) error {
	return w.Saver.Metadata(ctx, w.Known.Host, func(h *metal3.BareMetalHost) {
		for _, key := range a.Drop {
			delete(h.Annotations, key)
		}
		metav1.SetMetaDataAnnotation(&h.ObjectMeta, names.Rebooting, a.Mark.Value())
	})
}
