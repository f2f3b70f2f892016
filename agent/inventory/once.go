package inventory

import (
	"context"
	"slices"

	"golang.org/x/sync/singleflight"
)

// oneAtATime returns the collectors so that each runs once at a time: whoever
// asks meanwhile gets the same result. One that hangs in the kernel would
// otherwise hold one more thread with each inventory.
func oneAtATime(collectors []Collector) []Collector {
	var running singleflight.Group
	out := slices.Clone(collectors)
	for i, c := range collectors {
		out[i].Collect = func(ctx context.Context) (Apply, error) {
			result := running.DoChan(c.Name, func() (any, error) {
				// The run is not only this caller's.
				ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), Deadline)
				defer cancel()
				return collect(ctx, c)
			})
			select {
			case r := <-result:
				apply, _ := r.Val.(Apply)
				return apply, r.Err
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}
	}
	return out
}
