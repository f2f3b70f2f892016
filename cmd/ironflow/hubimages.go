package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
)

// hubImages are the images that clients of the hub's REST API download: one for
// all hosts of an infra-env, in which the agent starts by itself. It implements
// hubpaths.Hub.
type hubImages struct{ *program }

// Open implements hubpaths.Hub.
func (h hubImages) Open() bool { return h.settings.Hub.Auth == configured.AuthNone }

// Opens implements hubpaths.Hub.
func (h hubImages) Opens(ctx context.Context, token string) (string, error) {
	infraEnv, err := h.hub.core.CheckImageToken(ctx, token)
	if errors.Is(err, auth.ErrInvalid) || errors.Is(err, auth.ErrMissing) {
		return "", hubpaths.ErrBadToken
	}
	return infraEnv, err
}

// Failed implements hubpaths.Hub: the hub logs its events.
func (h hubImages) Failed(ctx context.Context, infraEnv string, err error) {
	tell := h.hub.core.ImageFailed
	if _, made := errors.AsType[*image.LeftOutError](err); made {
		tell = h.hub.core.NetworksLeftOut
	}
	if told := tell(ctx, infraEnv, err.Error()); told != nil {
		h.log.Error(err, "the image of an infra-env is not as it was asked for", "infraEnv", infraEnv, "untold", told.Error())
	}
}

// Spec implements hubpaths.Hub.
func (h hubImages) Spec(ctx context.Context, infraEnv, arch, version string) (images.Spec, error) {
	return h.spec(ctx, infraEnv, func(wire.InfraEnv) (string, string) { return arch, version })
}

// ownMedium is the medium that an infra-env itself asks for.
func ownMedium(env wire.InfraEnv) (arch, version string) {
	return cmp.Or(env.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664), env.OpenshiftVersion
}

// spec describes the image of an infra-env over a medium, whose live system has nmstatectl or not.
func (h hubImages) spec(ctx context.Context, infraEnv string, medium func(wire.InfraEnv) (arch, version string)) (images.Spec, error) {
	env, err := h.hub.core.InfraEnv(ctx, infraEnv)
	if service.IsNotFound(err) {
		return images.Spec{}, hubpaths.ErrNoInfraEnv
	}
	if err != nil {
		return images.Spec{}, err
	}
	agent, err := h.agentOf(ctx, env.ID)
	if err != nil {
		return images.Spec{}, err
	}
	parts, err := h.hub.core.ImageParts(ctx, env.ID)
	if err != nil {
		return images.Spec{}, err
	}
	arch, version := medium(env)
	return image.OfInfraEnv(env, agent, parts, h.liveSystem(ctx, arch, version))
}

// agentOf is what the images of an infra-env tell the agent. Without Ironic
// nobody opens a gate, so there is none.
func (h hubImages) agentOf(ctx context.Context, infraEnv string) (ignition.Agent, error) {
	ca, err := readExisting(h.cert.CA)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("CA of the hub: %w", err)
	}
	token, err := h.hub.core.AgentToken(ctx, infraEnv)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("token of infra-env %s: %w", infraEnv, err)
	}
	return ignition.Agent{
		URL: h.settings.Hub.PublishURL, InfraEnvID: infraEnv, Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Image: h.settings.LiveSystem.AgentImage,
	}, nil
}
