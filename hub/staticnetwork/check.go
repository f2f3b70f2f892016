package staticnetwork

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Check says what is wrong with the static networks of an infra-env's hosts: a
// document that is none of nmstate's or has a mistake, a host that no card tells, one
// card of two hosts, or a map of addresses that contradicts its document. Whether a
// document can be translated depends on the base image, which is asked later.
func Check(hosts []wire.HostStaticNetworkConfig) error {
	var c Checker
	for n, h := range hosts {
		if err := c.Add(fmt.Sprintf("static_network_config[%d]", n), h); err != nil {
			return err
		}
	}
	return nil
}

// Checker checks the static networks of hosts one after the other. The zero value is ready.
type Checker struct {
	// Document is what follows the name of a network where its document is meant, Map what
	// its map of addresses is called: ".network_yaml" and "mac_interface_map" unless set.
	Document, Map string
	// owners are the names of those that have a card, by its address.
	owners map[string]string
}

// Add checks a host's network against itself and those that were added before. One with
// an error is not added. The name says in messages where the network stands.
func (c *Checker) Add(name string, h wire.HostStaticNetworkConfig) error {
	if len(h.MACInterfaceMap) == 0 {
		return fmt.Errorf("%s: %s is empty: nobody could tell which host it is for", name, cmp.Or(c.Map, "mac_interface_map"))
	}
	cards, err := c.cards(name, h.MACInterfaceMap)
	if err != nil {
		return err
	}
	if err := checkDocument(h); err != nil {
		return fmt.Errorf("%s%s: %w", name, cmp.Or(c.Document, ".network_yaml"), err)
	}
	if c.owners == nil {
		c.owners = map[string]string{}
	}
	for _, mac := range cards {
		c.owners[mac] = name
	}
	return nil
}

// checkDocument looks at a document by itself.
func checkDocument(h wire.HostStaticNetworkConfig) error {
	if text := strings.TrimSpace(h.NetworkYaml); text == "" || text == "null" {
		return errors.New("is empty; leave the host out, and it has DHCP")
	}
	cards := map[string]string{}
	for _, card := range h.MACInterfaceMap {
		cards[card.LogicalNICName] = card.MACAddress
	}
	if _, err := network.Translate([]byte(h.NetworkYaml), cards); err != nil && !network.LeftToNmstatectl(err) {
		return err
	}
	return nil
}

func (c *Checker) cards(name string, cards wire.MACInterfaceMap) (addresses []string, err error) {
	names, macs := map[string]bool{}, map[string]bool{}
	for _, card := range cards {
		address, err := net.ParseMAC(card.MACAddress)
		mac := address.String()
		owner := c.owners[mac]
		switch {
		case err != nil || len(address) != 6:
			return nil, fmt.Errorf("%s: %.40q is no MAC address", name, card.MACAddress)
		case card.LogicalNICName == "" || strings.ContainsAny(card.LogicalNICName, "/= \t\r\n"):
			return nil, fmt.Errorf("%s: %.40q is no name of a card", name, card.LogicalNICName)
		case names[card.LogicalNICName]:
			return nil, fmt.Errorf("%s: two cards have the name %s", name, card.LogicalNICName)
		case macs[mac]:
			return nil, fmt.Errorf("%s: two cards have the address %s", name, mac)
		case owner != "":
			return nil, fmt.Errorf("%s: address %s is that of a card of %s, too", name, mac, owner)
		}
		names[card.LogicalNICName], macs[mac] = true, true
		addresses = append(addresses, mac)
	}
	return addresses, nil
}
