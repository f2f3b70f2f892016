package image

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/ignition"
	"github.com/ironflow/ironflow/imagecustomization/images"
	"github.com/ironflow/ironflow/imagecustomization/network"
	"github.com/ironflow/ironflow/imagecustomization/sharednetwork"
)

// sharedNetwork is what an image for all hosts of an infra-env needs so that each of
// them gets its own static network: files of its initrd, and what the live system sets
// up by itself.
type sharedNetwork struct {
	files []cpio.Entry
	later []ignition.Nmstate
}

// networkOfAll reads the static networks of an infra-env; there may be none.
func networkOfAll(env wire.InfraEnv, live network.Live) (shared sharedNetwork, err error) {
	if env.StaticNetworkConfig == "" {
		return shared, nil
	}
	bad := func(err error) (sharedNetwork, error) {
		return sharedNetwork{}, fmt.Errorf("%w: static_network_config: %w", images.ErrBadSpec, err)
	}
	var configs []wire.HostStaticNetworkConfig
	if err := json.Unmarshal([]byte(env.StaticNetworkConfig), &configs); err != nil {
		return bad(err)
	}
	hosts := make([]sharednetwork.Host, 0, len(configs))
	for n, c := range configs {
		h := sharednetwork.Host{Cards: map[string]string{}}
		var cards []network.Card
		for _, card := range c.MACInterfaceMap {
			h.Cards[card.MACAddress] = card.LogicalNICName
			cards = append(cards, network.Card{Name: card.LogicalNICName, Address: card.MACAddress})
		}
		settings, err := live.TranslateLogical([]byte(c.NetworkYaml), cards)
		if err != nil {
			return bad(fmt.Errorf("[%d].network_yaml: %w", n, err))
		}
		if settings.Nmstate != "" || settings.Hostname != "" {
			shared.later = append(shared.later, ignition.Nmstate{Cards: slices.Sorted(maps.Keys(h.Cards)), Document: settings.Nmstate, Hostname: settings.Hostname})
		}
		// A host that nmstatectl does has no keyfiles, and DHCP until then.
		if h.Keyfiles = settings.Keyfiles; len(h.Keyfiles) > 0 {
			hosts = append(hosts, h)
		}
	}
	var delay time.Duration
	if env.NetworkDiscoveryDelaySeconds != nil {
		delay = time.Duration(*env.NetworkDiscoveryDelaySeconds) * time.Second
	}
	shared.files = sharednetwork.Entries(hosts, delay)
	return shared, nil
}
