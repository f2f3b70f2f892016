package plugin

import (
	"context"
	"time"
)

// The pauses before and between the heartbeats behind a step's end. IPA must
// have recorded the end before the first. Ironic drops a heartbeat when the node
// happens to be locked, though it answers 202: so they are repeated.
var endPauses = []time.Duration{100 * time.Millisecond, 2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second}

// afterStep sends heartbeats right behind the step's end, until the next step begins.
func (m *Manager) afterStep(ctx context.Context, send beat) {
	ctx, m.movedOn = context.WithCancel(ctx)
	go func() {
		for _, pause := range endPauses {
			select {
			case <-ctx.Done():
				return
			case <-time.After(pause):
			}
			if err := send(ctx, ""); err != nil && ctx.Err() == nil {
				m.options.Log.Warn("the heartbeat behind a step's end did not reach Ironic", "error", err)
			}
		}
	}()
}
