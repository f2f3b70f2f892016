// Package staticnetwork packs the static networks of an infra-env's hosts for
// whoever applies them on the host that has the addresses.
package staticnetwork

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
)

// Archive returns a tar with a folder for each host: hostN/ymlFileN.yml has its
// nmstate document, hostN/mac_interface.ini which card has which name in it. Without
// static networks there is no archive.
func Archive(config string) ([]byte, error) {
	var hosts []wire.HostStaticNetworkConfig
	if config == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(config), &hosts); err != nil {
		return nil, fmt.Errorf("static_network_config: %w", err)
	}
	if len(hosts) == 0 {
		return nil, nil
	}
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for i, h := range hosts {
		var cards strings.Builder
		for _, c := range h.MACInterfaceMap {
			fmt.Fprintf(&cards, "%s=%s\n", c.MACAddress, c.LogicalNICName)
		}
		for _, f := range []struct{ name, content string }{
			{fmt.Sprintf("host%d/ymlFile%d.yml", i, i), h.NetworkYaml}, {fmt.Sprintf("host%d/mac_interface.ini", i), cards.String()},
		} {
			if err := archive.WriteHeader(&tar.Header{Name: f.name, Mode: 0o600, Size: int64(len(f.content))}); err != nil {
				return nil, err
			}
			if _, err := archive.Write([]byte(f.content)); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), archive.Close()
}
