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
	"github.com/ironflow/ironflow/api/version"
	"github.com/ironflow/ironflow/controllers/hubid"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/reconcile"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// makeImages registers the controller that builds live images.
func (p *program) makeImages() error {
	if _, err := p.baseConfig(); err != nil {
		return err // a mistake of the operator, to be seen at once
	}
	p.images.settings = p.liveSettings
	return image.Setup(p.manager, image.Options{
		Store: p.images.store, Architectures: p.images.architectures, IPA: p.ipaConfig, Agent: p.agentConfig, Base: p.baseConfig,
		Live: p.liveSystem, VLANInterfaces: p.settings.live.vlan, Changed: p.images.changed, Namespaces: listOf(p.settings.namespace),
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
	switch p.settings.images.nmstatectl {
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
func (p *program) liveSettings() string {
	config, baseErr := p.baseConfig()
	ipa, ipaErr := p.ipaConfig("")
	hub, hubErr := readExisting(p.cert.CA)
	return fmt.Sprintf("%q %q %+v %+v %v", string(config.PullSecret), hub, config, ipa, errors.Join(baseErr, ipaErr, hubErr))
}

// baseConfig is what every live image begins with.
func (p *program) baseConfig() (ignition.HostConfig, error) {
	live := p.settings.live
	keys, keysErr := readLines(p.settings.ipa.sshKey)
	registries, registriesErr := readGiven(live.registries)
	bundle, bundleErr := readGiven(live.caBundle)
	pull, pullErr := live.pullSecretText()
	for _, problem := range []struct {
		what string
		err  error
	}{{"SSH keys", keysErr}, {"registries.conf", registriesErr}, {"CA bundle", bundleErr}, {"pull secret", pullErr}} {
		if problem.err != nil {
			return ignition.HostConfig{}, fmt.Errorf("%s of live images: %w", problem.what, problem.err)
		}
	}
	return ignition.HostConfig{
		SSHKeys: append(keys, linesOf(p.settings.ipa.moreKey)...), PullSecret: pull, Registries: registries, CABundle: bundle, NTPServers: listOf(live.ntp),
		Proxy: ignition.Proxy{HTTP: live.proxyHTTP, HTTPS: live.proxyHTTPS, No: live.noProxy},
	}, nil
}

// pullSecretText is the pull secret, empty for none. An error does not repeat it.
func (s liveSystemSettings) pullSecretText() (ignition.Secret, error) {
	if s.pullSecret == "" {
		text, err := readExisting(s.pullSecretFile)
		return ignition.Secret(strings.TrimSpace(text)), err
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s.pullSecret))
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
func (p *program) ipaConfig(arch string) (ignition.IPA, error) {
	ca, err := readExisting(p.settings.ipa.caFile)
	if err != nil {
		return ignition.IPA{}, fmt.Errorf("CA of Ironic: %w", err)
	}
	live := p.settings.live
	config := ignition.IPA{
		CA: ca, Image: p.settings.ipa.agentImage, ImageInsecure: live.imageInsecure, IPOptions: live.ipOptions,
		APIURLs: listOf(p.settings.ipa.ironicURL), InspectionURLs: listOf(live.inspectorURL),
	}
	if arch == "aarch64" {
		config.Image = cmp.Or(live.agentImageARM, config.Image)
	}
	if config.Image == "" {
		config.Command = []string{"/usr/local/bin/ironic-python-agent", "--config-file", "/etc/ironic-python-agent.conf"}
	}
	return config, nil
}

// agentConfig is what the live image of a machine of an InfraEnv tells the host agent.
func (p *program) agentConfig(ctx context.Context, env *agentv1.InfraEnv, machine string) (ignition.Agent, error) {
	ca, err := readExisting(p.cert.CA)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("CA of the hub: %w", err)
	}
	token, err := p.hub.core.MachineToken(ctx, hubid.InfraEnv(env), machine)
	if err != nil {
		return ignition.Agent{}, fmt.Errorf("token of InfraEnv %s: %w", env.Name, err)
	}
	return ignition.Agent{
		URL: p.settings.hubURL, InfraEnvID: hubid.InfraEnv(env), Version: "ironflow/ironflow-agent:" + version.Release(),
		Token: ignition.Secret(token), CA: ca, Gate: !p.settings.ipa.foreign, Image: p.settings.images.agent,
	}, nil
}

// listOf are the parts of a comma-separated list that are not empty.
func listOf(text string) []string {
	var list []string
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}
