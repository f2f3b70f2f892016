package nodespec

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/ironflow/ironflow/api/names"
)

// CopyLabels gives an image the labels of its host, and takes away those that it had
// from the host and the host has no more. Those that others have put on the image stay.
// What was handed out for another InfraEnv than the host's label names now is noted, see
// [ForItsInfraEnv]. It reports whether there was something to change.
func CopyLabels(h *metal3.BareMetalHost, image *metal3.PreprovisioningImage) bool {
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
	if labels[names.InfraEnvLabel] != image.Labels[names.InfraEnvLabel] {
		noteHandedOut(image)
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

// noteHandedOut notes which InfraEnv the address that an image has was handed out for,
// before its label names another one. A change of a label is no new generation, so the
// status alone does not tell; its addresses follow what the image holds. An address that
// is noted already stays that of the InfraEnv it was noted for.
func noteHandedOut(image *metal3.PreprovisioningImage) {
	if image.Status.ImageUrl == "" {
		return
	}
	if _, address := handedOut(image); address != addressOf(image) {
		metav1.SetMetaDataAnnotation(&image.ObjectMeta, names.HandedOutFor, image.Labels[names.InfraEnvLabel]+" "+addressOf(image))
	}
}

// handedOut is what was noted: an InfraEnv, and what stands for the address that was
// handed out for it. Both are empty for an image whose label has never changed.
func handedOut(image *metal3.PreprovisioningImage) (infraEnv, address string) {
	infraEnv, address, _ = strings.Cut(image.Annotations[names.HandedOutFor], " ")
	return infraEnv, address
}

// relabelled reports whether the label of another InfraEnv was on an image before.
func relabelled(image *metal3.PreprovisioningImage) bool {
	infraEnv, address := handedOut(image)
	return address != "" && infraEnv != image.Labels[names.InfraEnvLabel]
}

// ForItsInfraEnv reports whether the address that an image offers was handed out for the
// InfraEnv that its host's label names now, or for none if it names none.
func ForItsInfraEnv(h *metal3.BareMetalHost, image *metal3.PreprovisioningImage) bool {
	if image.Labels[names.InfraEnvLabel] != h.Labels[names.InfraEnvLabel] {
		return false
	}
	_, address := handedOut(image)
	return !relabelled(image) || address != addressOf(image)
}

// addressOf stands for an image's address where the address itself, which opens the
// host's configuration, is not to be repeated.
func addressOf(image *metal3.PreprovisioningImage) string {
	sum := sha256.Sum256([]byte(image.Status.ImageUrl))
	return hex.EncodeToString(sum[:8])
}
