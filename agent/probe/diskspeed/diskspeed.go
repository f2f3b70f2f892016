// Package diskspeed is the step installation-disk-speed-check: how long the disk takes to sync.
package diskspeed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// The load of the disk speed check: two writers, each 22 MiB in small blocks
// with a sync after each, the way etcd writes.
const (
	speedBlock   = 2300
	speedBytes   = 22 << 20
	speedWriters = 2
)

type speedRequest struct {
	path  string
	limit time.Duration
}

// Check measures how long the disk takes to sync. It overwrites the start
// of the disk: hubs ask for it only for the disk that is installed next.
var Check = probe.Check[speedRequest]{
	Deadline: 15 * time.Minute,
	Decode: func(args []string) (speedRequest, error) {
		if err := steps.Strings(args, 1, 2); err != nil {
			return speedRequest{}, err
		}
		r, err := steps.Decode[wire.DiskSpeedCheckRequest](args[:1])
		out := speedRequest{path: r.Path, limit: 8 * time.Minute}
		if err != nil || len(args) == 1 {
			return out, err
		}
		seconds, err := strconv.ParseFloat(args[1], 64)
		if err != nil || seconds <= 0 || seconds > 3600 {
			return out, fmt.Errorf("time limit %q is not a number of seconds up to 3600", args[1])
		}
		out.limit = time.Duration(seconds * float64(time.Second))
		return out, nil
	},
	Validate: func(r speedRequest) error {
		if !strings.HasPrefix(r.path, "/dev/") || strings.Contains(r.path, "..") {
			return fmt.Errorf("path %q is not below /dev", r.path)
		}
		return nil
	},
	Real: func(ctx context.Context, env probe.Env, r speedRequest) steps.Result {
		device, err := env.Device(r.path)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		ctx, cancel := context.WithTimeout(ctx, r.limit)
		defer cancel()
		worst, err := syncTime(ctx, device)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			return steps.Failed(steps.ExitTimeout, "the disk did not take 2 x 22 MiB within %s", r.limit)
		case err != nil:
			return steps.Failed(steps.ExitBad, "measure %s: %v", r.path, err)
		}
		return steps.JSON(wire.DiskSpeedCheckResponse{IoSyncDuration: worst.Milliseconds(), Path: r.path})
	},
	Dry: func(_ context.Context, env probe.Env, r speedRequest) steps.Result {
		if _, err := env.Device(r.path); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.JSON(wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: r.path})
	},
}

// syncTime returns the worse 99th percentile of the writers' sync times.
func syncTime(ctx context.Context, device string) (time.Duration, error) {
	times := make([]time.Duration, speedWriters)
	errs := make([]error, speedWriters)
	var all sync.WaitGroup
	for i := range speedWriters {
		all.Go(func() { times[i], errs[i] = writeSynced(ctx, device, int64(i)*speedBytes) })
	}
	all.Wait()
	return slices.Max(times), errors.Join(errs...)
}

func writeSynced(ctx context.Context, device string, offset int64) (time.Duration, error) {
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, speedBlock)
	times := make([]time.Duration, 0, speedBytes/speedBlock)
	for range speedBytes / speedBlock {
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
		if _, err := f.WriteAt(block, offset); err != nil {
			return 0, err
		}
		offset += speedBlock
		start := time.Now()
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)*99/100], nil
}
