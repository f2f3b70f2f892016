package resources

import (
	"context"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/ironflow/ironflow/controllers/host/nodespec"
)

// JudgeImage reads a PreprovisioningImage, nil for none, against what the host asks
// for. fallbackKernel is used for an initrd without a kernel.
func (s Store) JudgeImage(ctx context.Context, h *metal3.BareMetalHost, image *metal3.PreprovisioningImage, want metal3.PreprovisioningImageSpec, fallbackKernel string) (nodespec.LiveImage, error) {
	version := ""
	if want.NetworkDataName != "" {
		secret, found, err := s.Secret(ctx, types.NamespacedName{Namespace: h.Namespace, Name: want.NetworkDataName})
		if err != nil {
			return nodespec.LiveImage{}, err
		}
		if found {
			if err := s.label(ctx, secret); err != nil {
				return nodespec.LiveImage{}, err
			}
			version = secret.ResourceVersion
		}
	}
	live := nodespec.ReadImage(h, image, want, version, fallbackKernel)
	live.Unlike = image != nil && nodespec.CopyLabels(h, image.DeepCopy())
	return live, nil
}
