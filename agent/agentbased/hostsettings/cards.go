// Package hostsettings gives a host, among those that an image is for, the network and the
// name that its settings hold: it is known by the addresses of its cards. The functions
// are [PickNetwork] and [SetHostname]; [Addresses] and [NetworkCards] compare a host with settings
// that it does not have yet.
package hostsettings

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/places"
	"github.com/ironflow/ironflow/agent/hostid"
	"github.com/ironflow/ironflow/api/hostfile"
)

const classNet = "/sys/class/net"

// cards are the kernel's names of the host's interfaces by their own hardware addresses, in
// lower case. Of a bond and its members, which share one, the members count.
func cards(dir hostfile.Dir) (map[string]string, error) {
	links, err := os.ReadDir(dir.Path(classNet))
	if err != nil {
		return nil, fmt.Errorf("list network interfaces: %w", err)
	}
	names := map[string]string{}
	for _, link := range links {
		base := filepath.Join(dir.Path(classNet), link.Name())
		mac := hostid.PermanentMAC(base)
		if mac == "" {
			continue
		}
		target, err := os.Readlink(base)
		own := err == nil && !strings.Contains(target, "/virtual/")
		if _, taken := names[mac]; own || !taken {
			names[mac] = link.Name()
		}
	}
	return names, nil
}

// Addresses are the hardware addresses of the host's cards, in lower case, sorted.
func Addresses(dir hostfile.Dir) ([]string, error) {
	names, err := cards(dir)
	return slices.Sorted(maps.Keys(names)), err
}

// NetworkCards are the addresses of the cards in a file of a host's network, in lower case; none of
// another file, and of one that [Check] refuses.
func NetworkCards(file string, raw []byte) []string {
	folder, name := path.Split(file)
	if path.Dir(strings.TrimSuffix(folder, "/")) != places.Networks || name != macFile {
		return nil
	}
	names, err := parseMACs(string(raw))
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(names))
}
