// Package hostsettings gives a host, among those that an image is for, the network and the
// name that its settings hold: it is known by the addresses of its cards. The functions
// are [PickNetwork] and [SetHostname].
package hostsettings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

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
