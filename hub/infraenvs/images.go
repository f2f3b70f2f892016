package infraenvs

import (
	"context"
	"errors"

	"github.com/ironflow/ironflow/hub/apierror"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/settle"
	"github.com/ironflow/ironflow/hub/store"
	"github.com/ironflow/ironflow/hub/unit"
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
func (r *Registry) ImageURLs(ctx context.Context, infraEnvID string) (ImageURLs, error) {
	env, err := r.record(ctx, infraEnvID)
	if err != nil {
		return ImageURLs{}, err
	}
	if r.imageURLs == nil {
		return ImageURLs{}, apierror.BadRequest("this hub does not know an image server: set --images-publish-url")
	}
	urls, err := r.urlsOf(env)
	if err != nil {
		return ImageURLs{}, apierror.BadRequest("infra-env %s has no image: %v", env.API.Name, err)
	}
	return urls, nil
}

// hostFolder is where an agent in a container finds the host's root.
const hostFolder = "/host"

// BootArtifacts are the parts of the infra-env's live image, with the right to get
// them, for a host that boots back into it by itself.
func (r *Registry) BootArtifacts(env *store.InfraEnv) (*wire.DownloadBootArtifactsRequest, error) {
	if r.imageURLs == nil {
		return nil, nil
	}
	urls, err := r.urlsOf(env)
	if err != nil {
		return nil, err
	}
	return &wire.DownloadBootArtifactsRequest{InitrdURL: urls.Initrd, KernelURL: urls.Kernel, RootfsURL: urls.Rootfs, HostFsMountDir: hostFolder}, nil
}

// imageGeneration grows with either kind of revocation, so that no two are alike.
func imageGeneration(env *store.InfraEnv) int64 { return env.TokenGeneration + env.ImageGeneration }

// ImageToken returns the token that opens the images of the infra-env and their
// files; empty for a hub without a token key. It stays the same until it is revoked.
func (r *Registry) ImageToken(ctx context.Context, infraEnvID string) (string, error) {
	env, err := r.record(ctx, infraEnvID)
	if err != nil || r.key.IsZero() {
		return "", err
	}
	return r.key.ImageToken(auth.Claims{InfraEnvID: infraEnvID, Generation: imageGeneration(env)})
}

// urlsOf asks where the image is, with a token that opens nothing else.
func (r *Registry) urlsOf(env *store.InfraEnv) (ImageURLs, error) {
	var token string
	if !r.key.IsZero() {
		var err error
		if token, err = r.key.ImageToken(auth.Claims{InfraEnvID: env.API.ID, Generation: imageGeneration(env)}); err != nil {
			return ImageURLs{}, err
		}
	}
	return r.imageURLs(env.API, token)
}

// ImageParts are what an infra-env's live image has beside what the API shows of it.
type ImageParts struct {
	// PullSecret is the infra-env's, Registries its registries.conf; empty for none.
	PullSecret, Registries string
}

// ImageParts returns those of the infra-env.
func (r *Registry) ImageParts(ctx context.Context, infraEnvID string) (ImageParts, error) {
	env, err := r.record(ctx, infraEnvID)
	if err != nil {
		return ImageParts{}, err
	}
	secret, err := r.units.Made().InfraEnvPullSecret(env)
	return ImageParts{PullSecret: secret, Registries: env.Registries}, errors.Join(err, env.Kept.Lost())
}

// shown is the record as it goes out: with its image's address, if there is one.
func (r *Registry) shown(env *store.InfraEnv) wire.InfraEnv {
	out := env.API
	if r.imageURLs == nil {
		return out
	}
	if urls, err := r.urlsOf(env); err == nil {
		out.DownloadURL = urls.ISO
	}
	return out
}

// NetworksLeftOut puts on an infra-env's timeline which static networks of its hosts its
// live image is made without.
func (r *Registry) NetworksLeftOut(ctx context.Context, infraEnvID, which string) error {
	return r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(infraEnvID)
		if err != nil {
			return err
		}
		return w.EnvEvent(env, "infra_env_networks_left_out", wire.EventSeverityWarning, "the live image is made, but "+which, unit.Props{"networks": which})
	})
}

// ImageFailed puts on an infra-env's timeline why its live image cannot be made.
// The reason must not hold secrets.
func (r *Registry) ImageFailed(ctx context.Context, infraEnvID, reason string) error {
	return r.units.Update(ctx, func(w *settle.Work) error {
		env, err := w.Env(infraEnvID)
		if err != nil {
			return err
		}
		return w.EnvEvent(env, "generate_image_fetch_failed", wire.EventSeverityError, "the live image cannot be made: "+reason, unit.Props{"error": reason})
	})
}
