package checks

import (
	"context"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// What every pretended image is: bytes, seconds, 10^6 bytes per second.
const (
	dryImageBytes = 400_000_000
	dryImageTime  = 10
	dryImageRate  = 100
)

// images pulls the images of the installation beforehand.
var images = kind[wire.ContainerImageAvailabilityRequest]{
	deadline: 20 * time.Minute,
	validate: func(r wire.ContainerImageAvailabilityRequest) error {
		if len(r.Images) == 0 || len(r.Images) > 32 {
			return fmt.Errorf("%d images, want 1 to 32", len(r.Images))
		}
		if r.Timeout < 0 {
			return fmt.Errorf("timeout %d is negative", r.Timeout)
		}
		for _, image := range r.Images {
			if !imageref.Valid(image) {
				return fmt.Errorf("%q is not an image reference", image)
			}
		}
		return nil
	},
	dry: func(_ context.Context, _ Env, r wire.ContainerImageAvailabilityRequest) steps.Result {
		out := wire.ContainerImageAvailabilityResponse{}
		for _, image := range r.Images {
			out.Images = append(out.Images, wire.ContainerImageAvailability{
				Name: image, Result: wire.ContainerImageAvailabilityResultSuccess,
				SizeBytes: dryImageBytes, Time: dryImageTime, DownloadRate: dryImageRate,
			})
		}
		return steps.JSON(out)
	},
}

// upgrade would replace this agent by another image. Neither a dry run nor this
// agent can do that; the answer is the protocol's "failure", after which hubs
// leave the agent alone until they ask again.
var upgrade = kind[wire.UpgradeAgentRequest]{
	deadline: time.Minute,
	validate: func(r wire.UpgradeAgentRequest) error {
		if !imageref.Valid(r.AgentImage) {
			return fmt.Errorf("agent_image %q is not an image reference", r.AgentImage)
		}
		return nil
	},
	real: noUpgrade,
	dry:  noUpgrade,
}

func noUpgrade(_ context.Context, _ Env, r wire.UpgradeAgentRequest) steps.Result {
	result := steps.JSON(wire.UpgradeAgentResponse{AgentImage: r.AgentImage, Result: wire.UpgradeAgentResultFailure})
	result.Error = "this agent comes with the live image and cannot replace itself"
	return result
}
