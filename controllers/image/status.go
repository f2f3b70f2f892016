package image

import (
	"strings"

	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// refused writes the outcome of a refusal. An image that was handed out before
// stays while something is merely waited for, so that hosts do not flap; an
// error takes it away, and with it all three URLs.
func refused(image *metal3v1.PreprovisioningImage, r *Refusal) {
	if r.Error {
		image.Status.ImageUrl, image.Status.KernelUrl, image.Status.ExtraKernelParams = "", "", ""
		image.Status.Format, image.Status.Architecture = "", ""
	}
	condition(image, metal3v1.ConditionImageReady, false, r.Reason, r.Message)
	condition(image, metal3v1.ConditionImageError, r.Error, r.Reason, r.Message)
}

// built writes the outcome of a successful build.
func built(image *metal3v1.PreprovisioningImage, r *Request, made images.Built, from inputs) {
	from.record(image)
	image.Status.ImageUrl = made.URL
	// Both are empty for an ISO.
	image.Status.KernelUrl, image.Status.ExtraKernelParams = made.KernelURL, made.ExtraKernelParams
	condition(image, metal3v1.ConditionImageReady, true, r.Reason, generated(r))
	condition(image, metal3v1.ConditionImageError, false, r.Reason, "Generated image")
}

// generated is the message of an image that can be used.
func generated(r *Request) string {
	text := "Generated image"
	if r.Network.Left != nil {
		text += ", whose live system sets its network up by nmstatectl: " + strings.ReplaceAll(r.Network.Left.Error(), "\n", "; ")
	}
	if r.Without != "" {
		text += ", " + r.Without
	}
	return text
}

// handedOut tells whether the status, as it was read, offers the image at url.
func handedOut(image *metal3v1.PreprovisioningImage, url string) bool {
	return image.Status.ImageUrl == url && meta.IsStatusConditionTrue(image.Status.Conditions, string(metal3v1.ConditionImageReady))
}

func condition(image *metal3v1.PreprovisioningImage, kind metal3v1.ImageStatusConditionType, status bool, reason, message string) {
	value := metav1.ConditionFalse
	if status {
		value = metav1.ConditionTrue
	}
	meta.SetStatusCondition(&image.Status.Conditions, metav1.Condition{
		Type: string(kind), Status: value, Reason: reason, Message: reconcile.Cut(message, reconcile.MaxMessage), ObservedGeneration: image.Generation,
	})
}
