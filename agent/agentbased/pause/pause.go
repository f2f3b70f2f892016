// Package pause lets the programs of an agent-based install wait between two looks at what
// nobody tells them, such as a hub's state or a medium, and end at once when they are
// stopped. What somebody does tell is waited for by that.
package pause

import (
	"context"
	"time"
)

// For waits for so long, and returns the context's cause when that ends before.
func For(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
