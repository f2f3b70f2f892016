// Package connectivity is the step connectivity-check: which other hosts of the cluster can be
// reached, over which interface, and with which packet size.
package connectivity

import (
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/agent/probe"
	"github.com/ironflow/ironflow/hub/wire"
)

// maxRemotes bounds the hosts of one connectivity step.
const maxRemotes = 10_000

// Check tells which other hosts of the cluster can be reached.
var Check = probe.Check[wire.ConnectivityCheckParams]{
	Deadline: 35 * time.Second,
	Validate: func(hosts wire.ConnectivityCheckParams) error {
		if len(hosts) > maxRemotes {
			return fmt.Errorf("%d hosts are more than %d", len(hosts), maxRemotes)
		}
		for i, host := range hosts {
			if _, err := uuid.Parse(host.HostID); err != nil {
				return fmt.Errorf("host %d: id %q is not a UUID", i, host.HostID)
			}
			for _, nic := range host.Nics {
				if _, err := net.ParseMAC(nic.MAC); err != nil && nic.MAC != "" {
					return fmt.Errorf("host %s: %q is not a MAC address", host.HostID, nic.MAC)
				}
				for _, address := range nic.IPAddresses {
					if a, err := netip.ParseAddr(address); err != nil || a.Zone() != "" {
						return fmt.Errorf("host %s: %q is not an address", host.HostID, address)
					}
				}
			}
		}
		return nil
	},
	Real: check,
	Dry:  pretend,
}
