package image

import (
	"encoding/json"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// networkFiles are what an image for all hosts of an infra-env needs so that each of
// them gets its own static network; none without static networks.
func networkFiles(env wire.InfraEnv) ([]cpio.Entry, error) {
	if env.StaticNetworkConfig == "" {
		return nil, nil
	}
	bad := func(err error) ([]cpio.Entry, error) {
		return nil, fmt.Errorf("%w: static_network_config: %w", images.ErrBadSpec, err)
	}
	var configs []wire.HostStaticNetworkConfig
	if err := json.Unmarshal([]byte(env.StaticNetworkConfig), &configs); err != nil {
		return bad(err)
	}
	hosts := make([]sharednetwork.Host, 0, len(configs))
	for n, c := range configs {
		h := sharednetwork.Host{Cards: map[string]string{}}
		document, macs := map[string]any{}, map[string]string{}
		if err := yaml.Unmarshal([]byte(c.NetworkYaml), &document); err != nil {
			return bad(fmt.Errorf("[%d].network_yaml: %w", n, err))
		}
		for _, card := range c.MACInterfaceMap {
			h.Cards[card.MACAddress], macs[card.LogicalNICName] = card.LogicalNICName, card.MACAddress
		}
		var err error
		if h.Keyfiles, err = keyfilesByAddress(document, macs); err != nil {
			return bad(fmt.Errorf("[%d].network_yaml: %w", n, err))
		}
		hosts = append(hosts, h)
	}
	var delay time.Duration
	if env.NetworkDiscoveryDelaySeconds != nil {
		delay = time.Duration(*env.NetworkDiscoveryDelaySeconds) * time.Second
	}
	return sharednetwork.Entries(hosts, delay), nil
}
