package host

import (
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/view"
	"github.com/ironflow/ironflow/ironic"
)

// Keys of driver_info that name the live image.
const (
	keyISO          = "deploy_iso"
	keyKernel       = "deploy_kernel"
	keyRamdisk      = "deploy_ramdisk"
	keyKernelParams = "kernel_append_params"
)

// wantsImage reports whether a live image is to be ready before the host goes on.
func wantsImage(o *Observed) bool { return o.Settings.BuildImages && bootsImage(o) }

// namesImage reports whether the node is to name the newest live image: on the way
// to being used, and before it boots one. Any other keeps what it names, so that
// taking a fleet over, or building its images anew, touches nothing.
func namesImage(o *Observed) bool {
	switch o.state() {
	case metal3.StateRegistering, metal3.StateInspecting, metal3.StateProvisioning:
		return true
	default:
		return bootsImage(o)
	}
}

// bootsImage reports whether what comes next boots the live image.
func bootsImage(o *Observed) bool {
	switch o.state() {
	case metal3.StateInspecting:
		return bootsForInspection(o.Host) && o.Inventory == nil
	case metal3.StatePreparing:
		return o.Node.ProvisionState == ironic.StateManageable && planOf(o).is == toDo
	case metal3.StateProvisioning:
		return o.Node.ProvisionState != ironic.StateActive && o.Host.Status.ErrorType != metal3.ProvisioningError
	case metal3.StateProvisioned, metal3.StateExternallyProvisioned:
		// Ironic does not adopt a node that names no live image.
		return o.Node.ProvisionState == ironic.StateManageable && !hasImage(o.Node) || toBeServiced(o)
	case metal3.StateDeprovisioning:
		return automatedClean(o.Host) && o.Node.ProvisionState != ironic.StateAvailable && !o.deleting()
	default:
		return false
	}
}

// imageSpec is the PreprovisioningImage that the host asks for.
func imageSpec(o *Observed) metal3.PreprovisioningImageSpec {
	spec := metal3.PreprovisioningImageSpec{
		NetworkDataName: o.Host.Spec.PreprovisioningNetworkDataName,
		Architecture:    architecture(o),
		AcceptFormats:   []metal3.ImageFormat{metal3.ImageFormatInitRD},
	}
	if o.BMC.Access.TakesISO {
		spec.AcceptFormats = []metal3.ImageFormat{metal3.ImageFormatISO, metal3.ImageFormatInitRD}
	}
	return spec
}

// liveImage asks for the host's live image and reports whether it can be used.
func liveImage(o *Observed, d *Decision) bool {
	switch {
	case o.Image.Ready:
		return true
	case !o.Image.Asked:
		d.do(AskImage{imageSpec(o)})
	case o.Image.Error != "":
		if stalledBy(o, causeImage) && o.Host.Status.ErrorMessage == o.Image.Error {
			d.waitNextAttempt(waitImage)
			return false
		}
		fail(o, d, metal3.RegistrationError, causeImage, o.Image.Error)
	case o.state() == metal3.StateProvisioning && hasImage(o.Node):
		return true // the one from before will do
	default:
		d.count(count{Metric: metricWaitImage})
		d.wait(waitImage, view.Note{Step: "building the live image", Text: o.Image.Note, WaitingFor: "the PreprovisioningImage to become ready"})
	}
	return false
}

// hasImage reports whether the node knows a live image.
func hasImage(n *ironic.Node) bool {
	return text(n.DriverInfo, keyISO) != "" || text(n.DriverInfo, keyRamdisk) != ""
}

// imageInfo are the members of driver_info that name the live image; nothing is
// touched where Ironic's own configuration decides.
func imageInfo(o *Observed) ironic.Fields {
	none := ironic.Remove
	iso := func(url string) ironic.Fields {
		return ironic.Fields{keyISO: url, keyKernel: none, keyRamdisk: none, keyKernelParams: none}
	}
	pair := func(kernel, ramdisk, params string) ironic.Fields {
		return ironic.Fields{keyISO: none, keyKernel: kernel, keyRamdisk: ramdisk, keyKernelParams: orRemove(params != "", "%default% "+params)}
	}
	all := o.Settings.liveImage(architecture(o))
	switch {
	case o.Image.Ready && o.Image.Format == metal3.ImageFormatISO:
		return iso(o.Image.URL)
	case o.Image.Ready:
		kernel := o.Image.Kernel
		if kernel == "" {
			kernel = all.Kernel
		}
		return pair(kernel, o.Image.URL, o.Image.KernelParams)
	case o.Settings.BuildImages:
		return nil
	case all.ISO != "" && o.BMC.Access.TakesISO:
		return iso(all.ISO)
	case all.Kernel != "" && all.Ramdisk != "":
		return pair(all.Kernel, all.Ramdisk, "")
	}
	return nil
}

// readImage judges a PreprovisioningImage against what the host asks for.
// secretVersion is the resource version of the network data Secret, empty when
// the spec names none. fallbackKernel is used for an initrd without a kernel.
func readImage(image *metal3.PreprovisioningImage, want metal3.PreprovisioningImageSpec, secretVersion, fallbackKernel string) LiveImage {
	if image == nil || !sameImageSpec(image.Spec, want) {
		return LiveImage{}
	}
	s := image.Status
	live := LiveImage{
		Asked: true, Format: s.Format, URL: s.ImageUrl, Kernel: s.KernelUrl, KernelParams: s.ExtraKernelParams,
	}
	ready := meta.FindStatusCondition(s.Conditions, string(metal3.ConditionImageReady))
	broken := meta.FindStatusCondition(s.Conditions, string(metal3.ConditionImageError))
	switch {
	case broken != nil && broken.Status == metav1.ConditionTrue && broken.ObservedGeneration >= image.Generation:
		live.Error = "the live image cannot be built: " + broken.Message
	case ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != image.Generation:
		if ready != nil {
			live.Note = ready.Message
		}
	case s.Architecture != want.Architecture:
		live.Note = "the image is for " + s.Architecture
	case s.NetworkData.Name != want.NetworkDataName || want.NetworkDataName != "" && s.NetworkData.Version != secretVersion:
		live.Note = "the image has older network data"
	case !slices.Contains(want.AcceptFormats, s.Format):
		live.Error = "the live image has format " + quote(string(s.Format)) + ", which this host's driver cannot boot"
	case s.Format == metal3.ImageFormatInitRD && s.KernelUrl == "" && fallbackKernel == "":
		live.Error = "the live image is an initrd without a kernel, and no kernel is configured"
	default:
		live.Ready = s.ImageUrl != ""
	}
	return live
}

// copyLabels gives an image the labels of its host, and takes away those that it had
// from the host and the host has no more. Those that others have put on the image stay.
// It reports whether there was something to change.
func copyLabels(h *metal3.BareMetalHost, image *metal3.PreprovisioningImage) bool {
	labels := maps.Clone(image.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	for key := range strings.SplitSeq(image.Annotations[names.CopiedLabels], ",") {
		delete(labels, key)
	}
	maps.Copy(labels, h.Labels)
	if maps.Equal(labels, image.Labels) {
		return false
	}
	image.Labels = labels
	copied := strings.Join(slices.Sorted(maps.Keys(h.Labels)), ",")
	if copied == "" {
		delete(image.Annotations, names.CopiedLabels)
	} else {
		metav1.SetMetaDataAnnotation(&image.ObjectMeta, names.CopiedLabels, copied)
	}
	return true
}

func sameImageSpec(a, b metal3.PreprovisioningImageSpec) bool {
	return equality.Semantic.DeepEqual(a, b)
}
