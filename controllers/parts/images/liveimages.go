package images

import (
	"context"
	"errors"
	"fmt"

	ctrl "sigs.k8s.io/controller-runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/parts/hub"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/configured"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
)

// makeImages registers the controller that builds live images.
func (p *Part) makeImages() error {
	if _, err := p.baseConfig(); err != nil {
		return err // a mistake of the operator, to be seen at once
	}
	p.served.Settings = p.liveSettings
	return image.Setup(p.Manager, image.Options{
		Store: p.served.Store, Architectures: p.served.Architectures, IPA: p.ipaConfig, Agent: p.agentConfig, Base: p.baseConfig,
		Live: hub.Live(&p.Settings, p.Hub.Bases), VLANInterfaces: p.Settings.LiveSystem.VLANInterfaces, Changed: p.served.Changed, Namespaces: p.Settings.Kubernetes.Namespaces,
	})
}

// Events takes the image server's events about hosts.
func Events(mgr ctrl.Manager) reconcile.Recorder {
	return reconcile.Recorder{Sink: mgr.GetEventRecorder("ironflow.io/image-server")}
}

// liveSettings stands for what is read anew for each image: when it is another
// than before, all images are.
func (p *Part) liveSettings() string {
	config, baseErr := p.baseConfig()
	ipa, ipaErr := p.ipaConfig("")
	ca, hubErr := p.Cert.CAText()
	return fmt.Sprintf("%q %q %+v %+v %v", string(config.PullSecret), ca, config, ipa, errors.Join(baseErr, ipaErr, hubErr))
}

// baseConfig is what every live image begins with.
func (p *Part) baseConfig() (ignition.HostConfig, error) {
	return configured.Host(p.Settings.LiveSystem)
}

// ipaConfig is what every live image of an architecture tells ironic-python-agent.
func (p *Part) ipaConfig(arch string) (ignition.IPA, error) {
	return configured.IPA(p.Settings.LiveSystem, arch)
}

// agentConfig is what the live image of a machine of an InfraEnv tells the host agent.
func (p *Part) agentConfig(ctx context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
	ca, err := p.Cert.CAText()
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("CA of the hub: %w", err)
	}
	token, err := p.Hub.Core().MachineToken(ctx, hubid.InfraEnv(env), machine)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("token of InfraEnv %s: %w", env.Name, err)
	}
	return ignition.Agent{
		URL: p.Settings.Hub.PublishURL, InfraEnvID: hubid.InfraEnv(env), Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Gate: !p.Settings.LiveSystem.IronicAgentForeign, Image: p.Settings.LiveSystem.AgentImage,
	}, nil
}
