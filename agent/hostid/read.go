package hostid

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
)

const (
	dmiDir = "/sys/class/dmi/id/"
	netDir = "/sys/class/net"
)

// Read collects the sources below the root directory; what cannot be read stays
// empty.
func Read(dir hostfile.Dir) Sources {
	s := Sources{BoardSerial: readLine(dir.Path(dmiDir + "board_serial")), ProductUUID: readLine(dir.Path(dmiDir + "product_uuid"))}
	links, err := os.ReadDir(dir.Path(netDir))
	if err != nil {
		return s
	}
	for _, link := range links {
		base := filepath.Join(dir.Path(netDir), link.Name())
		target, err := os.Readlink(base)
		if err != nil || strings.Contains(target, "/virtual/") {
			continue
		}
		if mac := PermanentMAC(base); mac != "" {
			s.MACs = append(s.MACs, mac)
		}
	}
	return s
}

// PermanentMAC is the interface's MAC, for a bond member the one that it had
// before, in lower case; empty when it has none. base is its folder in sysfs.
func PermanentMAC(base string) string {
	for _, file := range []string{"bonding_slave/perm_hwaddr", "address"} {
		if mac := strings.ToLower(readLine(filepath.Join(base, file))); mac != "" && mac != "00:00:00:00:00:00" {
			return mac
		}
	}
	return ""
}

func readLine(path string) string {
	raw, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
