package staticnetwork

import (
	"net/netip"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/ironflow/ironflow/hub/wire"
)

// NameServers are the addresses of those who resolve names by a host's document, in its
// order. A document that cannot be read has none; [Check] says what is wrong with it.
func NameServers(h wire.HostStaticNetworkConfig) (servers []string) {
	var document struct {
		Resolver struct {
			Config struct {
				Server []string `json:"server"`
			} `json:"config"`
		} `json:"dns-resolver"`
	}
	if yaml.Unmarshal([]byte(h.NetworkYaml), &document) != nil {
		return nil
	}
	for _, text := range document.Resolver.Config.Server {
		if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
			servers = append(servers, a.String())
		}
	}
	return servers
}

// Addresses are those that a host's document gives to interfaces of any kind. A document
// that cannot be read has none; [Check] says what is wrong with it.
func Addresses(h wire.HostStaticNetworkConfig) (addresses []netip.Addr) {
	type family struct {
		Address []struct {
			IP any `json:"ip"`
		} `json:"address"`
	}
	var document struct {
		Interfaces []struct {
			IPv4 family `json:"ipv4"`
			IPv6 family `json:"ipv6"`
		} `json:"interfaces"`
	}
	if yaml.Unmarshal([]byte(h.NetworkYaml), &document) != nil {
		return nil
	}
	for _, i := range document.Interfaces {
		for _, given := range slices.Concat(i.IPv4.Address, i.IPv6.Address) {
			text, _ := given.IP.(string)
			if a, err := netip.ParseAddr(strings.TrimSpace(text)); err == nil {
				addresses = append(addresses, a)
			}
		}
	}
	return addresses
}
