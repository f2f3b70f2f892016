package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/hub/auth"
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
func (h hubImages) Open() bool { return h.settings.hubAuth == "none" }

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
	if told := h.hub.core.ImageFailed(ctx, infraEnv, err.Error()); told != nil {
		h.log.Error(err, "cannot make the image of an infra-env", "infraEnv", infraEnv, "untold", told.Error())
	}
}

// Spec implements hubpaths.Hub.
func (h hubImages) Spec(ctx context.Context, infraEnv string) (images.Spec, error) {
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
	if err := onlyDHCP(env); err != nil {
		return images.Spec{}, err
	}
	secret, err := h.hub.core.PullSecret(ctx, env.ID)
	if err != nil {
		return images.Spec{}, err
	}
	spec := images.Spec{}
	if err := addKernelArguments(&spec, env.KernelArguments); err != nil {
		return images.Spec{}, err
	}
	spec.Ignition, err = ignition.Build(discovery(env, agent, ignition.Secret(secret)))
	if err != nil {
		return images.Spec{}, fmt.Errorf("%w: %w", images.ErrBadSpec, err)
	}
	return spec, nil
}

// onlyDHCP refuses static networks: the image is one for many hosts, and a bond or
// a VLAN of one of them would come up on all.
func onlyDHCP(env wire.InfraEnv) error {
	if env.StaticNetworkConfig == "" || env.StaticNetworkConfig == "[]" {
		return nil
	}
	return fmt.Errorf("%w: static_network_config: static networks are not put into an image for many hosts; "+
		"in Kubernetes, give each BareMetalHost an NMStateConfig or network data", images.ErrBadSpec)
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
		URL: h.settings.hubURL, InfraEnvID: infraEnv, Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Image: h.settings.images.agent,
	}, nil
}

// discovery is the configuration of an infra-env's live image.
func discovery(env wire.InfraEnv, agent ignition.Agent, secret ignition.Secret) ignition.HostConfig {
	c := ignition.HostConfig{Agent: &agent, PullSecret: secret, CABundle: env.AdditionalTrustBundle, Override: []byte(env.IgnitionConfigOverride)}
	for line := range strings.Lines(env.SSHAuthorizedKey) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			c.SSHKeys = append(c.SSHKeys, line)
		}
	}
	for source := range strings.SplitSeq(env.NTPSources+","+env.AdditionalNTPSources, ",") {
		if source = strings.TrimSpace(source); source != "" {
			c.NTPServers = append(c.NTPServers, source)
		}
	}
	if p := env.Proxy; p != nil {
		c.Proxy = ignition.Proxy{HTTP: value(p.HTTPProxy), HTTPS: value(p.HTTPSProxy), No: value(p.NoProxy)}
	}
	return c
}

// addKernelArguments reads the infra-env's changes of the kernel's command line,
// a JSON list in a string.
func addKernelArguments(spec *images.Spec, text *string) error {
	if value(text) == "" {
		return nil
	}
	var arguments wire.KernelArguments
	if err := json.Unmarshal([]byte(*text), &arguments); err != nil {
		return fmt.Errorf("%w: kernel arguments: %w", images.ErrBadSpec, err)
	}
	for _, a := range arguments {
		switch a.Operation {
		case "append":
			spec.Kargs.Append = append(spec.Kargs.Append, a.Value)
		case "replace":
			spec.Kargs.Replace = append(spec.Kargs.Replace, a.Value)
		case "delete":
			spec.Kargs.Delete = append(spec.Kargs.Delete, a.Value)
		}
	}
	return nil
}

// value is the text behind a pointer, "" for none.
func value(text *string) string {
	if text == nil {
		return ""
	}
	return *text
}
