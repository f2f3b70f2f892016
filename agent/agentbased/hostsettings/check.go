package hostsettings

import (
	"fmt"
	"net"
	"path"
	"strings"

	"github.com/ironflow/ironflow/agent/agentbased/connections"
	"github.com/ironflow/ironflow/agent/agentbased/places"
)

// Check tells what [PickNetwork] and [SetHostname] would stumble over in a file, at its path
// on the host, before it is there. Files that neither of them reads are fine.
func Check(file string, raw []byte) error {
	folder, name := path.Split(file)
	folder = strings.TrimSuffix(folder, "/")
	network := path.Dir(folder) == places.Networks
	switch {
	case file == places.NetworkDelay:
		values, err := places.ParseEnv(string(raw))
		if err == nil {
			_, err = delayOf(values)
		}
		return err
	case network && name == macFile:
		if _, err := parseMACs(string(raw)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	case network && strings.HasSuffix(name, connections.Suffix) && len(raw) > maxKeyfile:
		return fmt.Errorf("%s: want a file of at most %d bytes", file, maxKeyfile)
	case folder == places.Hostnames:
		if _, err := net.ParseMAC(name); err != nil {
			return fmt.Errorf("%s: its name is no MAC address, so no host would take its name from it", file)
		}
		_, err := nameOf(file, raw)
		return err
	}
	return nil
}
