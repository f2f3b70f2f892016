package migrate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	metal3 "github.com/metal3-io/baremetal-operator/apis/metal3.io/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	agentv1 "github.com/ironflow/ironflow/api/agentinstall/v1beta1"
	"github.com/ironflow/ironflow/api/names"
	"github.com/ironflow/ironflow/controllers/host/nodespec"
	"github.com/ironflow/ironflow/controllers/image"
	"github.com/ironflow/ironflow/controllers/nmstateconfigs"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// checkNetworks says which way the networks of live images would take: translated, left
// to nmstatectl in the live system, or refused. Without images of their own hosts have
// none.
func checkNetworks(ctx context.Context, s *state) error {
	if !s.options.Settings.BuildImages {
		return nil
	}
	envs, err := s.environments(ctx)
	if err != nil {
		return err
	}
	ways := map[string]int{}
	for i := range s.hosts {
		h := &s.hosts[i]
		name := h.Spec.PreprovisioningNetworkDataName
		if name == "" {
			continue
		}
		secret := &corev1.Secret{}
		err := s.options.Client.Get(ctx, client.ObjectKey{Namespace: h.Namespace, Name: name}, secret)
		if apierrors.IsNotFound(err) {
			continue // said by the check of the Secrets
		}
		if err != nil {
			return fmt.Errorf("read Secret %s/%s: %w", h.Namespace, name, err)
		}
		live := s.liveOf(ctx, h, envs)
		settings, err := live.FromSecret(secret.Data)
		ways[s.network(h.Namespace+"/"+h.Name, fmt.Sprintf("Secret %q", name), live, settings, err)]++
	}
	if err := s.nmStateConfigs(ctx, envs, ways); err != nil {
		return err
	}
	if n := ways[network.WayTranslated]; n > 0 {
		s.found(Note, "", "%d descriptions of networks are translated to keyfiles", n)
	}
	return nil
}

// nmStateConfigs looks at the networks of hosts that are installed by a hub.
func (s *state) nmStateConfigs(ctx context.Context, envs []agentv1.InfraEnv, ways map[string]int) error {
	namespaces := s.options.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	for _, namespace := range namespaces {
		var list agentv1.NMStateConfigList
		err := s.options.Client.List(ctx, &list, client.InNamespace(namespace))
		switch {
		case apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err):
			return nil // a cluster without such hosts
		case apierrors.IsForbidden(err):
			s.found(Note, namespace, "NMStateConfigs may not be read: look at their networks with `ironflow image network check`")
			continue
		case err != nil:
			return fmt.Errorf("list NMStateConfigs: %w", err)
		}
		for i := range list.Items {
			config := &list.Items[i]
			live := s.liveOfConfig(ctx, config, envs)
			settings, err := image.NetworkOfNMState(live, config)
			ways[s.network(config.Namespace+"/"+config.Name, "NMStateConfig", live, settings, err)]++
		}
		s.doubleCards(list.Items)
	}
	return nil
}

// liveOf is what is known of the live system of a host, as the image builder takes it: by the
// host's architecture, and the version that its InfraEnv asks for.
func (s *state) liveOf(ctx context.Context, h *metal3.BareMetalHost, envs []agentv1.InfraEnv) network.Live {
	version := ""
	for i := range envs {
		if envs[i].Namespace == h.Namespace && envs[i].Name == h.Labels[names.InfraEnvLabel] {
			version = envs[i].Spec.OSImageVersion
		}
	}
	return s.live(ctx, nodespec.ImageSpec(nodespec.Input{Host: h, Settings: s.options.Settings.Settings}).Architecture, version)
}

// liveOfConfig is the same of an NMStateConfig, by the first InfraEnv that selects it.
func (s *state) liveOfConfig(ctx context.Context, config *agentv1.NMStateConfig, envs []agentv1.InfraEnv) network.Live {
	for i := range envs {
		if envs[i].Namespace == config.Namespace && nmstateconfigs.Selects(&envs[i], config.Labels) {
			return s.live(ctx, cmp.Or(envs[i].Spec.CpuArchitecture, "x86_64"), envs[i].Spec.OSImageVersion)
		}
	}
	return s.live(ctx, "", "")
}

func (s *state) live(ctx context.Context, arch, version string) network.Live {
	if s.options.Live == nil {
		return network.Live{}
	}
	return s.options.Live(ctx, arch, version)
}

// doubleCards says which NMStateConfigs of a namespace hold a card of another one.
func (s *state) doubleCards(configs []agentv1.NMStateConfig) {
	owners := map[[2]string]string{}
	for i := range configs {
		c := &configs[i]
		for _, card := range c.Spec.Interfaces {
			key := [2]string{c.Namespace, strings.ToLower(card.MacAddress)}
			switch owner := owners[key]; owner {
			case "":
				owners[key] = c.Name
			case c.Name: // said of the map of addresses
			default:
				s.found(Warning, c.Namespace+"/"+c.Name, "its card %s is that of NMStateConfig %s, too: an InfraEnv that selects both leaves this one out; give each card to one of them", key[1], owner)
			}
		}
	}
}

// network notes what is not simply translated, and returns the way.
func (s *state) network(object, what string, live network.Live, settings network.Settings, err error) string {
	oneLine := func(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
	switch {
	case err != nil:
		s.found(Warning, object, "the network of its %s is refused, so that no live image is made: %s", what, oneLine(err))
		return network.WayRefused
	case settings.Left != nil:
		s.found(Note, object, "the network of its %s is left to nmstatectl in the live system (%s): %s", what, live.Why, oneLine(settings.Left))
	}
	return settings.Way()
}
