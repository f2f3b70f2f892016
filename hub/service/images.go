package service

import (
	"context"

	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/wire"
)

// ImageURLs are where the live image of an infra-env is served.
type ImageURLs struct {
	// ISO is the image of the infra-env's type, for BMCs: at most 255 characters.
	ISO string
	// Initrd, Kernel and Rootfs are its parts for booting over the network.
	Initrd, Kernel, Rootfs string
}

// ImageURLs returns where the live image of an infra-env is served. Without an
// image server, or a base medium for it, the error has the code 400.
func (h *Hub) ImageURLs(ctx context.Context, infraEnvID string) (ImageURLs, error) {
	env, err := h.record(ctx, infraEnvID)
	if err != nil {
		return ImageURLs{}, err
	}
	if h.imageURLs == nil {
		return ImageURLs{}, badRequest("this hub does not know an image server: set --images-publish-url")
	}
	urls, err := h.urlsOf(env)
	if err != nil {
		return ImageURLs{}, badRequest("infra-env %s has no image: %v", env.API.Name, err)
	}
	return urls, nil
}

// urlsOf asks where the image is, with a token that opens nothing else.
func (h *Hub) urlsOf(env *store.InfraEnv) (ImageURLs, error) {
	var token string
	if !h.key.IsZero() {
		var err error
		if token, err = h.key.ImageToken(auth.Claims{InfraEnvID: env.API.ID, Generation: env.TokenGeneration}); err != nil {
			return ImageURLs{}, err
		}
	}
	return h.imageURLs(env.API, token)
}

// PullSecret returns the infra-env's, for its live image.
func (h *Hub) PullSecret(ctx context.Context, infraEnvID string) (string, error) {
	env, err := h.record(ctx, infraEnvID)
	if err != nil {
		return "", err
	}
	return env.PullSecret, nil
}

// shown is the record as it goes out: with its image's address, if there is one.
func (h *Hub) shown(env *store.InfraEnv) wire.InfraEnv {
	out := env.API
	if h.imageURLs == nil {
		return out
	}
	if urls, err := h.urlsOf(env); err == nil {
		out.DownloadURL = urls.ISO
	}
	return out
}

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
