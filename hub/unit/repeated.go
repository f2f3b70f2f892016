package unit

import (
	"context"

	"golang.org/x/sync/singleflight"
)

// longestRepeated bounds repeated work whose caller has gone: it waits for its turn, and is done.
const longestRepeated = 2 * patience

// Repeated is work that agents ask for again when they gave up, while it waits or is done: it is done once for all
// who ask, and goes on when they leave, or the hub would begin anew each time. The zero value is ready.
type Repeated[V any] struct{ group singleflight.Group }

// Do does the work that the key names, or waits for who does it already.
func (r *Repeated[V]) Do(ctx context.Context, key string, work func(context.Context) (V, error)) (V, error) {
	v, err, _ := r.group.Do(key, func() (any, error) {
		own, stop := context.WithTimeout(context.WithoutCancel(ctx), longestRepeated)
		defer stop()
		return work(own)
	})
	out, _ := v.(V) // nothing where it failed
	return out, err
}
