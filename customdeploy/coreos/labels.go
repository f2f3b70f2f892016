package coreos

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// bootLabel is the label by which CoreOS finds its own /boot. When it starts for the
// first time there must be one such file system only.
const bootLabel = "boot"

// secondBoot finds a file system with that label which would be there beside the new
// one: not on the disk itself, nor on an array that is removed before. It is an error,
// because the machine would stop in its initramfs and nobody would hear of it; and a
// warning where the Ignition config, which is carried out before, may wipe it.
func (p Plan) secondBoot(host *writable.Host, disk blockdev.Disk, removes bool) (warning string, err error) {
	own := append([]string{disk.Path}, host.Twins(disk.Path)...)
	for _, path := range disk.Paths {
		own = append(own, path.Path)
	}
	var look func(devices []blockdev.Device) string
	look = func(devices []blockdev.Device) string {
		for _, d := range devices {
			if slices.Contains(own, d.Path) || removes && d.IsRAID() && host.Kept(d.Path) == "" {
				continue
			}
			if d.Label == bootLabel {
				return d.Path
			}
			if found := look(d.Children); found != "" {
				return found
			}
		}
		return ""
	}
	found := look(host.Tree)
	if found == "" {
		return "", nil
	}
	text := fmt.Sprintf("%s has a file system with the label %s, beside which CoreOS does not start on %s (coreos-ignition-unique-boot)", found, bootLabel, disk.Path)
	if p.mayWipe() {
		return text + " unless the Ignition config wipes it", nil
	}
	return "", errors.New(text + ": have the disk cleaned, or wiped by the Ignition config (storage.disks with wipeTable), or take it away")
}

// mayWipe tells whether the config may take such a file system away, or makes its own.
func (p Plan) mayWipe() bool {
	type wish struct {
		WipeTable bool `json:"wipeTable"`
	}
	var config struct {
		Storage struct {
			Disks []wish `json:"disks"`
			RAID  []any  `json:"raid"`
		} `json:"storage"`
		Ignition struct {
			Config struct {
				Merge   []any `json:"merge"`
				Replace struct {
					Source string `json:"source"`
				} `json:"replace"`
			} `json:"config"`
		} `json:"ignition"`
	}
	if json.Unmarshal(p.Ignition, &config) != nil { // it was read before
		return false
	}
	elsewhere := len(config.Ignition.Config.Merge) > 0 || config.Ignition.Config.Replace.Source != "" // nobody knows what it says
	wipes := slices.ContainsFunc(config.Storage.Disks, func(d wish) bool { return d.WipeTable })
	return elsewhere || wipes || len(config.Storage.RAID) > 0
}
