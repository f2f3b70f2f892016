package images

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ironflow/ironflow/agent/command"
	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

// workers bounds the pulls at a time: podman itself takes several layers of an image at once.
const workers = 4

// pullAll pulls all images. The results are in the images' order; the error has
// a line for each that failed.
func pullAll(ctx context.Context, env probe.Env, images []string) ([]wire.ContainerImageAvailability, error) {
	out, errs := make([]wire.ContainerImageAvailability, len(images)), make([]error, len(images))
	var all sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i, image := range images {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			out[i], errs[i] = pull(ctx, env, image)
		})
	}
	all.Wait()
	return out, errors.Join(errs...)
}

// pull makes sure that the image is there. Size, time and rate are told of an
// image that was not there before.
func pull(ctx context.Context, env probe.Env, image string) (wire.ContainerImageAvailability, error) {
	out := wire.ContainerImageAvailability{Name: image, Result: wire.ContainerImageAvailabilityResultSuccess}
	there, err := Exists(ctx, env.Commands, image)
	if err == nil && there {
		return out, nil
	}
	start := time.Now()
	if err == nil {
		err = Pull(ctx, env.Commands, image)
	}
	if err != nil {
		out.Result = wire.ContainerImageAvailabilityResultFailure
		return out, fmt.Errorf("image %s: %w", image, err)
	}
	seconds := time.Since(start).Seconds()
	size, err := sizeOf(ctx, env.Commands, image)
	if err != nil { // the image is there all the same
		env.Log.Warn("the size of an image is not known", "image", image, "error", err)
		return out, nil
	}
	out.SizeBytes, out.Time, out.DownloadRate = size, rounded(seconds), rounded(size/seconds/1e6)
	return out, nil
}

// rounded keeps milliseconds, and kilobytes of a rate.
func rounded(x float64) float64 { return math.Round(x*1000) / 1000 }

// Pull pulls an image with podman. The error's text is podman's last line.
func Pull(ctx context.Context, r command.Runner, image string) error {
	return r.Run(ctx, command.Command{Name: "podman", Args: []string{"pull", "--quiet", image}, Env: Environment()})
}

// Exists tells whether podman has the image already.
func Exists(ctx context.Context, r command.Runner, image string) (bool, error) {
	err := r.Run(ctx, command.Command{Name: "podman", Args: []string{"image", "exists", image}, Env: Environment()})
	if exit, ok := errors.AsType[*command.ExitError](err); ok && exit.Code == 1 {
		return false, nil
	}
	return err == nil, err
}

// sizeOf is the size of an image that is there, in bytes.
func sizeOf(ctx context.Context, r command.Runner, image string) (float64, error) {
	var out strings.Builder
	err := r.Run(ctx, command.Command{
		Name: "podman", Args: []string{"image", "inspect", "--format", "{{.Size}}", image}, Env: Environment(), Stdout: &limited{to: &out},
	})
	if err != nil {
		return 0, err
	}
	return strconv.ParseFloat(strings.TrimSpace(out.String()), 64)
}

// limited takes the beginning of what is written and drops the rest.
type limited struct{ to *strings.Builder }

func (l *limited) Write(p []byte) (int, error) {
	l.to.Write(p[:min(len(p), max(0, 64-l.to.Len()))])
	return len(p), nil
}
