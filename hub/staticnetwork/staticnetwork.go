// Package staticnetwork packs the static networks of an infra-env's hosts for
// whoever applies them on the host that has the addresses.
package staticnetwork

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/hub/wire"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Archive returns a tar with a folder for each host: hostN/NAME.nmconnection are its
// NetworkManager keyfiles, hostN/mac_interface.ini which card has which name in them.
// What of a document only nmstatectl can do on the host itself is hostN/ymlFileN.yml.
// Without static networks there is no archive.
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
		files, err := filesOf(i, h)
		if err != nil {
			return nil, fmt.Errorf("static_network_config[%d].network_yaml: %w", i, err)
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			content := files[name]
			if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("host%d/%s", i, name), Mode: 0o600, Size: int64(len(content))}); err != nil {
				return nil, err
			}
			if _, err := archive.Write(content); err != nil {
				return nil, err
			}
		}
	}
	return out.Bytes(), archive.Close()
}

// filesOf are those of the host's folder by name.
func filesOf(n int, h wire.HostStaticNetworkConfig) (map[string][]byte, error) {
	var cards strings.Builder
	names := map[string]string{}
	for _, c := range h.MACInterfaceMap {
		fmt.Fprintf(&cards, "%s=%s\n", c.MACAddress, c.LogicalNICName)
		names[c.LogicalNICName] = c.MACAddress
	}
	settings, err := network.Translate([]byte(h.NetworkYaml), names)
	files := map[string][]byte{"mac_interface.ini": []byte(cards.String())}
	switch {
	case err != nil && network.LeftToNmstatectl(err), err == nil && settings.Nmstate != "":
		files[fmt.Sprintf("ymlFile%d.yml", n)] = []byte(h.NetworkYaml)
	case err != nil:
		return nil, err
	default:
		maps.Copy(files, settings.Keyfiles)
	}
	return files, nil
}
