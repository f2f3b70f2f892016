package main

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/hubimages"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/reconcile"
	hubconfigured "github.com/ironflow/ironflow/hub/configured"
	"github.com/ironflow/ironflow/hub/service"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/media"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// makeImages registers the controller that builds live images.
func (p *imagePart) makeImages() error {
	if _, err := p.baseConfig(); err != nil {
		return err // a mistake of the operator, to be seen at once
	}
	p.images.Settings = p.liveSettings
	return image.Setup(p.manager, image.Options{
		Store: p.images.Store, Architectures: p.images.Architectures, IPA: p.ipaConfig, Agent: p.agentConfig, Base: p.baseConfig,
		Live: p.liveSystem, VLANInterfaces: p.settings.LiveSystem.VLANInterfaces, Changed: p.images.Changed, Namespaces: p.settings.Kubernetes.Namespaces,
	})
}

// bases are the base images that this process serves; nil for none.
func (p *program) bases() *media.Registry {
	if p.images == nil {
		return nil
	}
	return p.images.Media
}

// envImages are the images of infra-envs.
func (p *program) envImages() hubimages.Images {
	return hubimages.Images{
		Hub: func() *service.Hub { return p.hub.core }, Unauthenticated: p.settings.Hub.Auth == hubconfigured.AuthNone,
		URL: p.settings.Hub.PublishURL, Cert: p.cert, AgentImage: p.settings.LiveSystem.AgentImage, Live: p.liveSystem, Log: p.log,
	}
}

// liveSystem is what is known of the live system of the base image that fits.
func (p *program) liveSystem(ctx context.Context, arch, version string) network.Live {
	said := p.settings.LiveSystem.Nmstatectl
	if p.images == nil {
		return configured.Live(said, nil)
	}
	return configured.Live(said, func() (*media.Medium, error) { return p.images.Media.Select(ctx, arch, version) })
}

// imageEvents takes the image server's events about hosts.
func imageEvents(mgr ctrl.Manager) reconcile.Recorder {
	return reconcile.Recorder{Sink: mgr.GetEventRecorder("ironflow.io/image-server")}
}

// liveSettings stands for what is read anew for each image: when it is another
// than before, all images are.
func (p *imagePart) liveSettings() string {
	config, baseErr := p.baseConfig()
	ipa, ipaErr := p.ipaConfig("")
	hub, hubErr := p.cert.CAText()
	return fmt.Sprintf("%q %q %+v %+v %v", string(config.PullSecret), hub, config, ipa, errors.Join(baseErr, ipaErr, hubErr))
}

// baseConfig is what every live image begins with.
func (p *imagePart) baseConfig() (ignition.HostConfig, error) {
	return configured.Host(p.settings.LiveSystem)
}

// ipaConfig is what every live image of an architecture tells ironic-python-agent.
func (p *imagePart) ipaConfig(arch string) (ignition.IPA, error) {
	return configured.IPA(p.settings.LiveSystem, arch)
}

// agentConfig is what the live image of a machine of an InfraEnv tells the host agent.
func (p *imagePart) agentConfig(ctx context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
	ca, err := p.cert.CAText()
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("CA of the hub: %w", err)
	}
	token, err := p.hub.core.MachineToken(ctx, hubid.InfraEnv(env), machine)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("token of InfraEnv %s: %w", env.Name, err)
	}
	return ignition.Agent{
		URL: p.settings.Hub.PublishURL, InfraEnvID: hubid.InfraEnv(env), Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Gate: !p.settings.LiveSystem.IronicAgentForeign, Image: p.settings.LiveSystem.AgentImage,
	}, nil
}
