package image

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
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
	lacks error
}

// LeftOutError says which static networks the image for all hosts of an infra-env is made
// without. Each is that of one host, and the others are not to wait for it.
type LeftOutError struct {
	// problems say of each what is wrong with it, of how many.
	problems []string
	of       int
}

// told is how many of them a message names.
const told = 5

// Error implements error.
func (l *LeftOutError) Error() string {
	text := strings.Join(l.problems[:min(len(l.problems), told)], "; ")
	if more := len(l.problems) - told; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return fmt.Sprintf("%d of %d static networks are left out, and their hosts boot with DHCP: %s", len(l.problems), l.of, text)
}

// networkOfAll reads the static networks of an infra-env; there may be none. One that
// neither we nor the live system can do is left out: its host is told so on its console.
func networkOfAll(env wire.InfraEnv, live network.Live) (shared sharedNetwork, err error) {
	if env.StaticNetworkConfig == "" {
		return shared, nil
	}
	var configs []wire.HostStaticNetworkConfig
	if err := json.Unmarshal([]byte(env.StaticNetworkConfig), &configs); err != nil {
		return sharedNetwork{}, fmt.Errorf("%w: static_network_config: %w", images.ErrBadSpec, err)
	}
	hosts := make([]sharednetwork.Host, 0, len(configs))
	left := LeftOutError{of: len(configs)}
	for n, c := range configs {
		h := sharednetwork.Host{Cards: map[string]string{}}
		var cards []network.Card
		for _, card := range c.MACInterfaceMap {
			h.Cards[card.MACAddress] = card.LogicalNICName
			cards = append(cards, network.Card{Name: card.LogicalNICName, Address: card.MACAddress})
		}
		settings, err := live.TranslateLogical([]byte(c.NetworkYaml), cards)
		if err != nil {
			problem := fmt.Sprintf("static_network_config[%d].network_yaml (%s): %s", n, strings.Join(slices.Sorted(maps.Keys(h.Cards)), ", "), oneLine(err))
			left.problems = append(left.problems, problem)
			if len(h.Cards) > 0 { // or it would be that of any machine
				shared.later = append(shared.later, ignition.Nmstate{Cards: slices.Sorted(maps.Keys(h.Cards)), Refused: problem})
			}
			continue
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
	if len(left.problems) > 0 {
		shared.lacks = &left
	}
	return shared, nil
}

// oneLine is an error in one line of a message.
func oneLine(err error) string { return strings.ReplaceAll(err.Error(), "\n", "; ") }
