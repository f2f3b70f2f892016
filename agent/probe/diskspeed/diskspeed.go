// Package diskspeed is the step installation-disk-speed-check: how long the disk
// takes to sync what was written, which is what etcd waits for. It overwrites
// the start of the disk: hubs ask for it only for the disk that is installed next.
package diskspeed

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/agent/steps"
	"github.com/ironflow/ironflow/hub/wire"
)

// Time limits: where the hub names none, and the longest that it may name.
const (
	defaultLimit = 8 * time.Minute
	longestLimit = time.Hour
)

type speedRequest struct {
	path  string
	limit time.Duration
}

// Check measures how long the disk takes to sync.
var Check = probe.Check[speedRequest]{
	Deadline: longestLimit + time.Minute,
	Decode: func(args []string) (speedRequest, error) {
		if err := steps.Strings(args, 1, 2); err != nil {
			return speedRequest{}, err
		}
		r, err := steps.Decode[wire.DiskSpeedCheckRequest](args[:1])
		out := speedRequest{path: r.Path, limit: defaultLimit}
		if err != nil || len(args) == 1 {
			return out, err
		}
		seconds, err := strconv.ParseFloat(args[1], 64)
		if err != nil || !(seconds > 0 && seconds <= longestLimit.Seconds()) {
			return out, fmt.Errorf("time limit %q is not a number of seconds up to 3600", args[1])
		}
		out.limit = time.Duration(seconds * float64(time.Second))
		return out, nil
	},
	Validate: func(r speedRequest) error {
		if !strings.HasPrefix(r.path, "/dev/") || path.Clean(r.path) != r.path {
			return fmt.Errorf("path %q is not below /dev", r.path)
		}
		return nil
	},
	Real: func(ctx context.Context, env probe.Env, r speedRequest) steps.Result {
		device, err := env.Device(r.path)
		if err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		if err := checkDevice(env.Dir, device); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return measure(ctx, r, func(ctx context.Context) (time.Duration, error) { return writeSynced(ctx, device) })
	},
	Dry: func(_ context.Context, env probe.Env, r speedRequest) steps.Result {
		if _, err := env.Device(r.path); err != nil {
			return steps.Failed(steps.ExitBad, "%v", err)
		}
		return steps.JSON(wire.DiskSpeedCheckResponse{IoSyncDuration: 1, Path: r.path})
	},
}

// errLimit is the cause of a measurement's end by the hub's limit.
var errLimit = errors.New("the time limit of the measurement ran out")

// measure runs the writers side by side and answers with the worse of them. One
// that fails does not matter while the other does not. When the time is over
// nobody waits for a disk that hangs: what is left of a writer ends with its write.
// A run that is cancelled waits for its writers, since the disk is another's next.
func measure(ctx context.Context, r speedRequest, write func(context.Context) (time.Duration, error)) steps.Result {
	ctx, cancel := context.WithTimeoutCause(ctx, r.limit, errLimit)
	defer cancel()
	type end struct {
		took time.Duration
		err  error
	}
	ends := make(chan end, writers)
	for range writers {
		go func() {
			took, err := write(ctx)
			ends <- end{took, err}
		}()
	}
	var worst time.Duration
	var errs []error
	over := ctx.Done()
	for left := writers; left > 0; {
		select {
		case <-over:
			if errors.Is(context.Cause(ctx), errLimit) {
				return ended(ctx, r)
			}
			over = nil
		case e := <-ends:
			left--
			worst = max(worst, e.took)
			if e.err != nil {
				errs = append(errs, e.err)
			}
		}
	}
	if ctx.Err() != nil {
		return ended(ctx, r)
	}
	result := steps.JSON(wire.DiskSpeedCheckResponse{IoSyncDuration: worst.Milliseconds(), Path: r.path})
	if len(errs) == writers {
		result.Exit, result.Error = steps.ExitBad, fmt.Sprintf("measure %s: %v", r.path, errs[0])
	}
	return result
}

// ended is the result of a measurement that was stopped.
func ended(ctx context.Context, r speedRequest) steps.Result {
	if cause := context.Cause(ctx); !errors.Is(cause, errLimit) {
		return steps.Failed(steps.ExitBad, "measure %s: %v", r.path, cause)
	}
	return steps.Failed(steps.ExitTimeout, "the disk did not take %d x %d MiB within %s", writers, writtenBytes>>20, r.limit)
}
