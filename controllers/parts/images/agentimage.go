package images

import (
	"context"
	"errors"
	"time"

	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/hub/releases/registry"
	"github.com/ironflow/ironflow/imagecustomization/configured"
)

// registryAnswersWithin is how long one registry may take.
const registryAnswersWithin = 10 * time.Second

// AgentImages are the container images of ironic-python-agent, that of all architectures first.
func AgentImages(s *v1alpha1.IronflowConfiguration) []string {
	return []string{s.LiveSystem.IronicAgentImage, s.LiveSystem.IronicAgentImageARM}
}

// Pullable asks for an image where live systems pull it from: by their mirrors, authorities and
// pull secret. known is false where no registry could be asked from here.
func Pullable(ctx context.Context, s *v1alpha1.IronflowConfiguration, image string) (known bool, err error) {
	live, err := configured.Host(s.LiveSystem)
	if err != nil {
		return false, err
	}
	mirrors, err := registry.ParseMirrors([]byte(live.Registries))
	if err != nil {
		return false, err
	}
	reader := registry.Reader{Mirrors: mirrors, CA: []byte(live.CABundle), Insecure: s.LiveSystem.IronicAgentImageInsecure, Timeout: registryAnswersWithin}
	err = reader.Exists(ctx, "the image of ironic-python-agent", image, string(live.PullSecret))
	refused, is := errors.AsType[*registry.Refused](err)
	return err == nil || is && refused.ByRegistries(), err
}
