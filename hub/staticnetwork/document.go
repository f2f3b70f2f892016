package staticnetwork

import (
	"net/netip"

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
