package install

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ironflow/ironflow/agent/backoff"
	"github.com/ironflow/ironflow/agent/hubclient"
)

// apart is how far the tries of [Persist] are apart: 2 to 10 seconds.
var apart = backoff.Policy{First: 2 * time.Second, Factor: 1.5, Max: 10 * time.Second}

// Persist repeats a call to the hub as often as its answer allows: what may pass
// soon ten times, an outage for an hour, anything else not at all.
func Persist(ctx context.Context, log *slog.Logger, what string, call func() error) error {
	for attempt := 1; ; attempt++ {
		err := call()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if attempt >= patience(hubclient.Code(err)) {
			return fmt.Errorf("%s: %w", what, err)
		}
		delay := hubclient.Delay(err, apart.Random(attempt))
		log.Warn(what+" failed; it is tried again", "attempt", attempt, "retryIn", delay.Round(time.Millisecond), "error", err)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(delay):
		}
	}
}
