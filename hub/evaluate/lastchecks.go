package evaluate

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/ironflow/ironflow/hub/hostmachine"
	"github.com/ironflow/ironflow/hub/instructions"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/validations"
	"github.com/ironflow/ironflow/hub/wire"
)

// DiskCheck says what the measurement of the installation disk came to.
func (e Evaluator) DiskCheck(h *store.Host, c *store.Cluster, facts *validations.HostFacts) hostmachine.Check {
	ms, measured, failed := validations.DiskSpeed(&h.API)
	limit := e.NeedsOf(c, facts).DiskSpeedMs
	switch {
	case skipsDiskCheck(h, facts.Inventory):
		return hostmachine.Passed
	case failed:
		return hostmachine.Failed
	case !measured:
		return hostmachine.Unknown
	case limit > 0 && ms > limit:
		return hostmachine.Failed
	}
	return hostmachine.Passed
}

// skipsDiskCheck tells that the disk must not be written before the
// installation: it holds partitions to keep, or the running system.
func skipsDiskCheck(h *store.Host, inventory *wire.Inventory) bool {
	if strings.Contains(h.API.InstallerArgs, "--save-part") {
		return true
	}
	return inventory != nil && inventory.Boot != nil && inventory.Boot.DeviceType == wire.BootDeviceTypePersistent
}

// ImageCheck says whether the host could pull what an installation needs: it has reported
// on images, and none of them has failed. Agents name them as they see fit; one that names
// any as it was asked has to report on all: of those that failed before, nothing is kept.
// c may be nil.
func (e Evaluator) ImageCheck(h *store.Host, c *store.Cluster) hostmachine.Check {
	asked, results := e.ImagesOf(c).ToCheck(), ImageResults(h)
	if len(asked) == 0 {
		return hostmachine.Passed
	}
	for _, image := range results {
		if validations.ImageFailed(image) {
			return hostmachine.Failed
		}
	}
	known := 0
	for _, name := range asked {
		if _, there := results[name]; there {
			known++
		}
	}
	if len(results) == 0 || known > 0 && known < len(asked) {
		return hostmachine.Unknown
	}
	return hostmachine.Passed
}

// ImageResults are the results of a host's checks by image; nil when they cannot be read.
func ImageResults(h *store.Host) map[string]wire.ContainerImageAvailability {
	status := map[string]wire.ContainerImageAvailability{}
	if h.API.ImagesStatus != "" && json.Unmarshal([]byte(h.API.ImagesStatus), &status) != nil {
		return nil
	}
	return status
}

// ImagesOf are the images for a cluster; the release is its own, and so are its parts unless somebody has
// named others for all clusters. c may be nil.
func (e Evaluator) ImagesOf(c *store.Cluster) instructions.Images {
	images := e.Images
	if c != nil && c.API.OcpReleaseImage != "" {
		images.Release = c.API.OcpReleaseImage
	}
	if c != nil && c.Release != nil {
		images.MachineConfig, images.MustGather = cmp.Or(images.MachineConfig, c.Release.MachineConfig), cmp.Or(images.MustGather, c.Release.MustGather)
	}
	return images
}
