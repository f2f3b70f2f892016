// Package images is the step container-image-availability: it pulls the images
// of the installation beforehand with the host's podman, which has the
// credentials in its own authentication file.
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

// Time limits of all pulls together: where the hub names none, and the longest that it may name.
const (
	defaultLimit = 16 * time.Minute
	longestLimit = time.Hour
)

// maxImages bounds the images of one step.
const maxImages = 32

// Check pulls the images of the installation beforehand.
var Check = probe.Check[wire.ContainerImageAvailabilityRequest]{
	Deadline: longestLimit + time.Minute,
	Validate: func(r wire.ContainerImageAvailabilityRequest) error {
		if len(r.Images) == 0 || len(r.Images) > maxImages {
			return fmt.Errorf("%d images, want 1 to %d", len(r.Images), maxImages)
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
	Real: func(ctx context.Context, env probe.Env, r wire.ContainerImageAvailabilityRequest) steps.Result {
		limit := limitOf(r)
		ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("not pulled within %s", limit))
		defer cancel()
		images, err := pullAll(ctx, env, r.Images)
		result := steps.JSON(wire.ContainerImageAvailabilityResponse{Images: images})
		if err != nil {
			result.Exit, result.Error = steps.ExitPull, err.Error()
		}
		return result
	},
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

func limitOf(r wire.ContainerImageAvailabilityRequest) time.Duration {
	if r.Timeout == 0 {
		return defaultLimit
	}
	return time.Duration(min(r.Timeout, int64(longestLimit/time.Second))) * time.Second
}
