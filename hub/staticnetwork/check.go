package staticnetwork

import (
	"fmt"
	"net"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
)

// Check says what is wrong with the static networks of an infra-env's hosts: a
// document that cannot be read, a host that no card tells, or one card of two hosts.
func Check(hosts []wire.HostStaticNetworkConfig) error {
	owners := map[string]int{}
	for n, h := range hosts {
		if len(h.MACInterfaceMap) == 0 {
			return fmt.Errorf("static_network_config[%d]: mac_interface_map is empty: nobody could tell which host it is for", n)
		}
		var document map[string]any
		if err := yaml.Unmarshal([]byte(h.NetworkYaml), &document); err != nil {
			return fmt.Errorf("static_network_config[%d].network_yaml: %w", n, err)
		}
		if err := checkCards(n, h.MACInterfaceMap, owners); err != nil {
			return err
		}
	}
	return nil
}

func checkCards(n int, cards wire.MACInterfaceMap, owners map[string]int) error {
	names := map[string]bool{}
	for _, card := range cards {
		address, err := net.ParseMAC(card.MACAddress)
		switch {
		case err != nil || len(address) != 6:
			return fmt.Errorf("static_network_config[%d]: %.40q is no MAC address", n, card.MACAddress)
		case card.LogicalNICName == "" || strings.ContainsAny(card.LogicalNICName, "/= \t\r\n"):
			return fmt.Errorf("static_network_config[%d]: %.40q is no name of a card", n, card.LogicalNICName)
		case names[card.LogicalNICName]:
			return fmt.Errorf("static_network_config[%d]: two cards have the name %s", n, card.LogicalNICName)
		}
		mac := address.String()
		if owner, taken := owners[mac]; taken {
			return fmt.Errorf("static_network_config[%d]: address %s is that of a card of entry %d, too", n, mac, owner)
		}
		owners[mac], names[card.LogicalNICName] = n, true
	}
	return nil
}
