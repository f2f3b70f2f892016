package nodespec

import (
	"slices"
	"strconv"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/ironic"
)

// Keys of driver_info that name the live image.
const (
	keyISO          = "deploy_iso"
	keyKernel       = "deploy_kernel"
	keyRamdisk      = "deploy_ramdisk"
	keyKernelParams = "kernel_append_params"
)

// ImageSpec is the PreprovisioningImage that the host asks for.
func ImageSpec(in Input) metal3.PreprovisioningImageSpec {
	spec := metal3.PreprovisioningImageSpec{
		NetworkDataName: in.Host.Spec.PreprovisioningNetworkDataName,
		Architecture:    architecture(in),
		AcceptFormats:   []metal3.ImageFormat{metal3.ImageFormatInitRD},
	}
	if in.BMC.Access.TakesISO {
		spec.AcceptFormats = []metal3.ImageFormat{metal3.ImageFormatISO, metal3.ImageFormatInitRD}
	}
	return spec
}

// HasImage reports whether the node knows a live image.
func HasImage(n *ironic.Node) bool {
	return text(n.DriverInfo, keyISO) != "" || text(n.DriverInfo, keyRamdisk) != ""
}

// imageInfo are the members of driver_info that name the live image; nothing is
// touched where Ironic's own configuration decides.
func imageInfo(in Input) ironic.Fields {
	none := ironic.Remove
	iso := func(url string) ironic.Fields {
		return ironic.Fields{keyISO: url, keyKernel: none, keyRamdisk: none, keyKernelParams: none}
	}
	pair := func(kernel, ramdisk, params string) ironic.Fields {
		return ironic.Fields{keyISO: none, keyKernel: kernel, keyRamdisk: ramdisk, keyKernelParams: orRemove(params != "", "%default% "+params)}
	}
	all := in.Settings.LiveImageFor(architecture(in))
	switch {
	case in.Image.Ready && in.Image.Format == metal3.ImageFormatISO:
		return iso(in.Image.URL)
	case in.Image.Ready:
		kernel := in.Image.Kernel
		if kernel == "" {
			kernel = all.Kernel
		}
		return pair(kernel, in.Image.URL, in.Image.KernelParams)
	case in.Settings.BuildImages:
		return nil
	case all.ISO != "" && in.BMC.Access.TakesISO:
		return iso(all.ISO)
	case all.Kernel != "" && all.Ramdisk != "":
		return pair(all.Kernel, all.Ramdisk, "")
	}
	return nil
}

// ReadImage judges a host's PreprovisioningImage against what the host asks for.
// secretVersion is the resource version of the network data Secret, empty when
// the spec names none. fallbackKernel is used for an initrd without a kernel.
func ReadImage(h *metal3.BareMetalHost, image *metal3.PreprovisioningImage, want metal3.PreprovisioningImageSpec, secretVersion, fallbackKernel string) LiveImage {
	if image == nil || !sameImageSpec(image.Spec, want) {
		return LiveImage{}
	}
	s := image.Status
	live := LiveImage{
		Asked: true, Relabelled: relabelled(image), Format: s.Format, URL: s.ImageUrl, Kernel: s.KernelUrl, KernelParams: s.ExtraKernelParams,
	}
	ready := meta.FindStatusCondition(s.Conditions, string(metal3.ConditionImageReady))
	broken := meta.FindStatusCondition(s.Conditions, string(metal3.ConditionImageError))
	switch {
	case broken != nil && broken.Status == metav1.ConditionTrue && broken.ObservedGeneration >= produced(image):
		live.Error = "the live image cannot be built: " + broken.Message
	case ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != produced(image):
		if ready != nil {
			live.Note = ready.Message
		}
	case !ForItsInfraEnv(h, image):
		live.Note = "the image was built for another InfraEnv than the host's label names"
	case s.Architecture != want.Architecture:
		live.Note = "the image is for " + s.Architecture
	case s.NetworkData.Name != want.NetworkDataName || want.NetworkDataName != "" && s.NetworkData.Version != secretVersion:
		live.Note = "the image has older network data"
	case !slices.Contains(want.AcceptFormats, s.Format):
		live.Error = "the live image has format " + strconv.Quote(string(s.Format)) + ", which this host's driver cannot boot"
	case s.Format == metal3.ImageFormatInitRD && s.KernelUrl == "" && fallbackKernel == "":
		live.Error = "the live image is an initrd without a kernel, and no kernel is configured"
	default:
		live.Ready = s.ImageUrl != ""
	}
	if !image.DeletionTimestamp.IsZero() && (!live.Ready || !held(image)) {
		return LiveImage{Note: "the PreprovisioningImage is being deleted"} // nothing is built for it any more
	}
	return live
}

// produced is the generation that an image's status is to be of. Its deletion is a generation
// too, of which nothing is built any more.
func produced(image *metal3.PreprovisioningImage) int64 {
	if image.DeletionTimestamp.IsZero() {
		return image.Generation
	}
	return image.Generation - 1
}

// held reports whether an image that somebody has deleted stays until its host lets it go:
// by the host's finalizer, or by that of an image controller.
func held(image *metal3.PreprovisioningImage) bool {
	return slices.Contains(image.Finalizers, names.HostImageFinalizer) || slices.Contains(image.Finalizers, names.ImageFinalizer)
}

func sameImageSpec(a, b metal3.PreprovisioningImageSpec) bool {
	return equality.Semantic.DeepEqual(a, b)
}

// LiveImage is the state of a host's PreprovisioningImage, as of now.
type LiveImage struct {
	// Asked is true when the object exists as wanted.
	Asked bool
	// Unlike is true when the object's labels do not follow the host's.
	Unlike bool
	// Relabelled is true when the host had the label of another InfraEnv before: what its
	// node names may hold the agent of that one.
	Relabelled bool
	// Ready is true when the image can be used.
	Ready bool
	// Error is why it will not become ready without help, empty otherwise.
	Error string
	// Note is what it is waiting for, empty for no word.
	Note string
	// Format tells how to read the addresses.
	Format metal3.ImageFormat
	// URL is the ISO or the initrd, Kernel belongs to an initrd.
	URL, Kernel string
	// KernelParams are appended to the kernel's command line of an initrd.
	KernelParams string
}
