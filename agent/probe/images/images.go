// Package images is the step container-image-availability: it pulls the images of the
// installation beforehand.
package images

import (
	"context"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/agent/imageref"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// What every pretended image is: bytes, seconds, 10^6 bytes per second.
const (
	dryImageBytes = 400_000_000
	dryImageTime  = 10
	dryImageRate  = 100
)

// Check pulls the images of the installation beforehand.
var Check = probe.Check[wire.ContainerImageAvailabilityRequest]{
	Deadline: 20 * time.Minute,
	Validate: func(r wire.ContainerImageAvailabilityRequest) error {
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
	Real: probe.NotYet[wire.ContainerImageAvailabilityRequest],
	Dry: func(_ context.Context, _ probe.Env, r wire.ContainerImageAvailabilityRequest) steps.Result {
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
