package image

import (
	metal3v1 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// inputs are those of a build that the status names, for hosts to compare with
// what they asked for.
type inputs struct {
	format       metal3v1.ImageFormat
	architecture string
	network      metal3v1.SecretStatus
}

// inputsOf are the inputs of the build that is asked for; version is that of the
// Secret with the network data.
func inputsOf(image *metal3v1.PreprovisioningImage, r *Request, version string) inputs {
	return inputs{
		format: r.Format, architecture: image.Spec.Architecture,
		network: metal3v1.SecretStatus{Name: image.Spec.NetworkDataName, Version: version},
	}
}

// record writes the inputs into the status.
func (in inputs) record(image *metal3v1.PreprovisioningImage) {
	image.Status.Format, image.Status.Architecture, image.Status.NetworkData = in.format, in.architecture, in.network
}

// phase is what the next pass does about an image. A change of the inputs takes
// three, each with one write of the status, so that nobody can take the new inputs
// for those of the old address. An image that nobody was given takes one.
type phase int

const (
	// phaseBuild builds, and hands the image out.
	phaseBuild phase = iota
	// phaseAnnounce says that the image is not to be used any more; its address stays.
	phaseAnnounce
	// phaseEmpty writes the new inputs, without an address.
	phaseEmpty
)

// nextPhase is the phase of an image that is to be built from want.
func nextPhase(s metal3v1.PreprovisioningImageStatus, want inputs) phase {
	have := inputs{format: s.Format, architecture: s.Architecture, network: s.NetworkData}
	switch {
	case s.ImageUrl == "" || have == want:
		return phaseBuild
	case meta.IsStatusConditionTrue(s.Conditions, string(metal3v1.ConditionImageReady)):
		return phaseAnnounce
	default:
		return phaseEmpty
	}
}

// configChanged is the message of an image whose inputs have changed.
const configChanged = "Config changed"

// announced says that the image is about to be replaced.
func announced(image *metal3v1.PreprovisioningImage) {
	condition(image, metal3v1.ConditionImageReady, false, ReasonSuccess, configChanged)
	condition(image, metal3v1.ConditionImageError, false, ReasonSuccess, configChanged)
}

// emptied writes the new inputs without an address. The store keeps what machines
// are reading at this moment: the next build replaces it there.
func emptied(image *metal3v1.PreprovisioningImage, want inputs) {
	announced(image)
	want.record(image)
	image.Status.ImageUrl, image.Status.KernelUrl, image.Status.ExtraKernelParams = "", "", ""
}
