// Package hubimages makes the images that clients of the hub's REST API download: one for all hosts of
// an infra-env, in which the agent starts by itself. The image server serves them, and the hub tells
// their addresses and serves parts of them. Its main type is Images. Images of single hosts, which
// Ironic boots, are made by package image.
package hubimages

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/go-logr/logr"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/hub/auth"
	"github.com/ironflow/ironflow/hub/pki"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/hubpaths"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Images are the images of infra-envs. It implements hubpaths.Hub and rest.LiveFiles.
type Images struct {
	// Hub knows the infra-envs; it is there when the first image is asked for.
	Hub func() *service.Hub
	// Unauthenticated is a hub whose images everybody may read.
	Unauthenticated bool
	// URL is where hosts reach the hub, whose CA they trust.
	URL  string
	Cert pki.Files
	// AgentImage is the container image of the agent; empty for the program that the image has.
	AgentImage string
	// Live is what is known of the live system of the base image that fits.
	Live func(ctx context.Context, arch, version string) network.Live
	Log  logr.Logger
}

// Open implements hubpaths.Hub.
func (h Images) Open() bool { return h.Unauthenticated }

// Opens implements hubpaths.Hub.
func (h Images) Opens(ctx context.Context, token string) (string, error) {
	infraEnv, err := h.Hub().CheckImageToken(ctx, token)
	if errors.Is(err, auth.ErrInvalid) || errors.Is(err, auth.ErrMissing) {
		return "", hubpaths.ErrBadToken
	}
	return infraEnv, err
}

// Failed implements hubpaths.Hub: the hub logs its events.
func (h Images) Failed(ctx context.Context, infraEnv string, err error) {
	tell := h.Hub().ImageFailed
	if _, made := errors.AsType[*image.LeftOutError](err); made {
		tell = h.Hub().NetworksLeftOut
	}
	if told := tell(ctx, infraEnv, err.Error()); told != nil {
		h.Log.Error(err, "the image of an infra-env is not as it was asked for", "infraEnv", infraEnv, "untold", told.Error())
	}
}

// Spec implements hubpaths.Hub.
func (h Images) Spec(ctx context.Context, infraEnv, arch, version string) (images.Spec, error) {
	return h.spec(ctx, infraEnv, func(wire.InfraEnv) (string, string) { return arch, version })
}

// ownMedium is the medium that an infra-env itself asks for.
func ownMedium(env wire.InfraEnv) (arch, version string) {
	return cmp.Or(env.CPUArchitecture, wire.InfraEnvCPUArchitectureX8664), env.OpenshiftVersion
}

// spec describes the image of an infra-env over a medium, whose live system has nmstatectl or not.
func (h Images) spec(ctx context.Context, infraEnv string, medium func(wire.InfraEnv) (arch, version string)) (images.Spec, error) {
	env, err := h.Hub().InfraEnv(ctx, infraEnv)
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
	parts, err := h.Hub().ImageParts(ctx, env.ID)
	if err != nil {
		return images.Spec{}, err
	}
	arch, version := medium(env)
	return image.OfInfraEnv(env, agent, parts, h.Live(ctx, arch, version))
}

// agentOf is what the images of an infra-env tell the agent. Without Ironic
// nobody opens a gate, so there is none.
func (h Images) agentOf(ctx context.Context, infraEnv string) (ignition.Agent, error) {
	ca, err := h.Cert.CAText()
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("CA of the hub: %w", err)
	}
	token, err := h.Hub().AgentToken(ctx, infraEnv)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("token of infra-env %s: %w", infraEnv, err)
	}
	return ignition.Agent{
		URL: h.URL, InfraEnvID: infraEnv, Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Image: h.AgentImage,
	}, nil
}
