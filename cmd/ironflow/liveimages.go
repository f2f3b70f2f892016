package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	ctrl "sigs.k8s.io/controller-runtime"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/config/v1alpha1"
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// makeImages registers the controller that builds live images.
func (p *imagePart) makeImages() error {
	if _, err := p.baseConfig(); err != nil {
		return err // a mistake of the operator, to be seen at once
	}
	p.images.settings = p.liveSettings
	return image.Setup(p.manager, image.Options{
		Store: p.images.store, Architectures: p.images.architectures, IPA: p.ipaConfig, Agent: p.agentConfig, Base: p.baseConfig,
		Live: p.liveSystem, VLANInterfaces: p.settings.LiveSystem.VLANInterfaces, Changed: p.images.changed, Namespaces: p.settings.Kubernetes.Namespaces,
	})
}

// Values of --live-nmstatectl.
const (
	nmstatectlAuto   = "auto"
	nmstatectlAlways = "always"
	nmstatectlNever  = "never"
)

// checkNmstatectl refuses any other; none is auto.
func checkNmstatectl(value string) error {
	if !slices.Contains([]string{"", nmstatectlAuto, nmstatectlAlways, nmstatectlNever}, value) {
		return fmt.Errorf("--live-nmstatectl %q is neither %s, %s nor %s", value, nmstatectlAuto, nmstatectlAlways, nmstatectlNever)
	}
	return nil
}

// liveSystem is what is known of the live system of the base image that fits.
func (p *program) liveSystem(ctx context.Context, arch, version string) network.Live {
	switch p.settings.LiveSystem.Nmstatectl {
	case nmstatectlAlways:
		return network.Live{Nmstatectl: true, Why: "--live-nmstatectl=always"}
	case nmstatectlNever:
		return network.Live{Why: "--live-nmstatectl=never"}
	}
	if p.images == nil {
		return network.Live{Why: "the base images are another process's; where they have nmstatectl, say --live-nmstatectl=always"}
	}
	m, err := p.images.media.Select(ctx, arch, version)
	if err != nil {
		return network.Live{Why: err.Error()}
	}
	has, why := m.Nmstatectl()
	return network.Live{Nmstatectl: has, Why: why}
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
	hub, hubErr := readExisting(p.cert.CA)
	return fmt.Sprintf("%q %q %+v %+v %v", string(config.PullSecret), hub, config, ipa, errors.Join(baseErr, ipaErr, hubErr))
}

// baseConfig is what every live image begins with.
func (p *imagePart) baseConfig() (ignition.HostConfig, error) {
	live := p.settings.LiveSystem
	keys, keysErr := readLines(p.settings.LiveSystem.SSHKeyFile)
	registries, registriesErr := readGiven(live.RegistriesFile)
	bundle, bundleErr := readGiven(live.CABundleFile)
	pull, pullErr := pullSecretText(live)
	for _, problem := range []struct {
		what string
		err  error
	}{{"SSH keys", keysErr}, {"registries.conf", registriesErr}, {"CA bundle", bundleErr}, {"pull secret", pullErr}} {
		if problem.err != nil {
			return ignition.HostConfig{}, fmt.Errorf("%s of live images: %w", problem.what, problem.err)
		}
	}
	return ignition.HostConfig{
		SSHKeys: append(keys, linesOf(p.settings.LiveSystem.SSHKey)...), PullSecret: pull, Registries: registries, CABundle: bundle, NTPServers: live.NTPServers,
		Proxy: ignition.Proxy{HTTP: live.HTTPProxy, HTTPS: live.HTTPSProxy, No: live.NoProxy},
	}, nil
}

// pullSecretText is the pull secret, empty for none. An error does not repeat it.
func pullSecretText(s v1alpha1.LiveSystem) (ignition.Secret, error) {
	if s.PullSecret == "" {
		text, err := readExisting(s.PullSecretFile)
		return ignition.Secret(strings.TrimSpace(text)), err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s.PullSecret))
	if err != nil {
		return "", errors.New("IRONIC_AGENT_PULL_SECRET is not base64")
	}
	return ignition.Secret(raw), nil
}

// readGiven reads a file that has to be there when it is named.
func readGiven(file string) (string, error) {
	if file == "" {
		return "", nil
	}
	raw, err := os.ReadFile(file)
	return string(raw), err
}

// ipaConfig is what every live image of an architecture tells ironic-python-agent.
func (p *imagePart) ipaConfig(arch string) (ignition.IPA, error) {
	ca, err := readExisting(p.settings.LiveSystem.IronicCAFile)
	if err != nil {
		return ignition.IPA{}, fmt.Errorf("CA of Ironic: %w", err)
	}
	live := p.settings.LiveSystem
	config := ignition.IPA{
		CA: ca, Image: p.settings.LiveSystem.IronicAgentImage, ImageInsecure: live.IronicAgentImageInsecure, IPOptions: live.IPOptions,
		APIURLs: live.IronicBaseURLs, InspectionURLs: live.InspectorBaseURLs,
	}
	if arch == "aarch64" {
		config.Image = cmp.Or(live.IronicAgentImageARM, config.Image)
	}
	if config.Image == "" {
		config.Command = []string{"/usr/local/bin/ironic-python-agent", "--config-file", "/etc/ironic-python-agent.conf"}
	}
	return config, nil
}

// agentConfig is what the live image of a machine of an InfraEnv tells the host agent.
func (p *imagePart) agentConfig(ctx context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
	ca, err := readExisting(p.cert.CA)
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
