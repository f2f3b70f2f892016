package sharednetwork

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/ironflow/ironflow/imagecustomization/cpio"
)

// running does in a system that has its root file system what the initrd's unit does
// before. The first number is the delay, the second one the limit, in seconds.
const running = `[Unit]
Description=Pick the network of this machine
Before=NetworkManager.service network-pre.target
Wants=network-pre.target

[Service]
Type=oneshot
RemainAfterExit=yes
Environment=DISCOVERY_DELAY_SECONDS=%d
TimeoutStartSec=%d
ExecStart=/usr/local/bin/pre-network-manager-config.sh /etc/assisted/network /etc/NetworkManager/system-connections

[Install]
WantedBy=multi-user.target
`

// WithoutInitrd adds [Entries] to the Ignition of a live system whose initrd does not hold
// them: somebody else makes its image. Such a system has its root file system on its
// medium, and needs no network before. What the Ignition has itself wins.
func WithoutInitrd(ignition []byte, entries []cpio.Entry, delay time.Duration) ([]byte, error) {
	if len(entries) == 0 {
		return ignition, nil
	}
	own, _, err := v3_2.Parse(ignition)
	if err != nil {
		return nil, fmt.Errorf("read the Ignition of the live system: %w", err)
	}
	unit := fmt.Sprintf(running, int64(delay/time.Second), int64((delay+limit)/time.Second))
	below := types.Config{
		Ignition: types.Ignition{Version: own.Ignition.Version},
		Systemd:  types.Systemd{Units: []types.Unit{{Name: service, Enabled: new(true), Contents: &unit}}},
	}
	for _, e := range entries {
		if !e.IsRegular() || strings.HasPrefix(e.Name, units+"/") {
			continue
		}
		source := "data:;base64," + base64.StdEncoding.EncodeToString(e.Data)
		below.Storage.Files = append(below.Storage.Files, types.File{
			Node:          types.Node{Path: path.Join("/", e.Name), Overwrite: new(true)},
			FileEmbedded1: types.FileEmbedded1{Mode: new(int(e.Mode & 0o777)), Contents: types.Resource{Source: &source}},
		})
	}
	return json.Marshal(v3_2.Merge(below, own))
}
