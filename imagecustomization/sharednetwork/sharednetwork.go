package sharednetwork

import (
	_ "embed" // the script
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
	"github.com/ironflow/ironflow/imagecustomization/network"
)

// Host is the network of one machine.
type Host struct {
	// Cards are the names of its cards by their addresses.
	Cards map[string]string
	// Keyfiles are NetworkManager keyfiles by file name.
	Keyfiles map[string][]byte
}

const (
	folder  = "etc/assisted/network"
	script  = "usr/local/bin/pre-network-manager-config.sh"
	units   = "etc/systemd/system"
	service = "pre-network-manager-config.service"
)

//go:embed pick.sh
var pick []byte

// unit runs the script before anybody asks for the network. The first number is the
// delay, the second one the limit, in seconds.
const unit = `[Unit]
Description=Pick the network of this machine
DefaultDependencies=no
After=systemd-udev-trigger.service
Before=coreos-copy-firstboot-network.service nm-initrd.service dracut-initqueue.service coreos-livepxe-rootfs.service

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=DISCOVERY_DELAY_SECONDS=%d
TimeoutStartSec=%d
ExecStart=/usr/local/bin/pre-network-manager-config.sh

[Install]
WantedBy=initrd.target
`

// limit is how long the script may take beside the delay.
const limit = 60 * time.Second

// Entries are members of an initrd's archive; none without hosts. The script looks for
// cards once the delay is over. The same hosts give the same members.
func Entries(hosts []Host, delay time.Duration) (entries []cpio.Entry) {
	if len(hosts) == 0 {
		return nil
	}
	add := func(name string, mode uint32, data []byte) {
		entries = append(entries, cpio.Entry{Name: name, Mode: mode, Data: data})
	}
	for n, h := range hosts {
		dir := fmt.Sprintf("%s/host%d/", folder, n)
		for _, name := range slices.Sorted(maps.Keys(h.Keyfiles)) {
			add(dir+name, cpio.TypeRegular|0o600, h.Keyfiles[name])
		}
		var cards strings.Builder
		for _, mac := range slices.Sorted(maps.Keys(h.Cards)) {
			cards.WriteString(mac + "=" + h.Cards[mac] + "\n")
		}
		add(dir+"mac_interface.ini", cpio.TypeRegular|0o600, []byte(cards.String()))
	}
	add(script, cpio.TypeRegular|0o755, pick)
	add(units+"/"+service, cpio.TypeRegular|0o644, fmt.Appendf(nil, unit, int64(delay/time.Second), int64((delay+limit)/time.Second)))
	add(units+"/initrd.target.wants/"+service, cpio.TypeSymlink|0o777, []byte("../"+service))
	return entries
}

// OfHost is how a host's own network gets into the initrd of its image: as keyfiles, or,
// where they name cards that only the live system knows the names of, with the script
// that fills them in.
func OfHost(s network.Settings) (keyfiles map[string][]byte, entries []cpio.Entry) {
	if !s.Unnamed {
		return s.Keyfiles, nil
	}
	host := Host{Cards: map[string]string{}, Keyfiles: s.Keyfiles}
	for name, mac := range s.Cards {
		host.Cards[mac] = name
	}
	return nil, Entries([]Host{host}, 0)
}
