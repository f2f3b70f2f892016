package service

import (
	"context"

	"github.com/ironflow/ironflow/hub/wire"
)

// imageFailed is the protocol's name of the event below.
const imageFailed = "generate_image_fetch_failed"

// ImageFailed puts on an infra-env's timeline why its live image cannot be made.
// The reason must not hold secrets.
func (h *Hub) ImageFailed(ctx context.Context, infraEnvID, reason string) error {
	return h.update(ctx, func(w *work) error {
		env, err := w.env(infraEnvID)
		if err != nil {
			return err
		}
		return w.envEvent(env, imageFailed, wire.EventSeverityError, "the live image cannot be made: "+reason, props{"error": reason})
	})
}
