package diskcopy

import (
	"os"
	"regexp"

	"github.com/ironflow/ironflow/api/hostfile"
)

// noDisk are devices that are no disks of a host, or are made of them.
var noDisk = regexp.MustCompile(`^(loop|ram|zram|sr|fd|nbd|dm-|md)`)

// Found is what lies on the disks of a host.
type Found struct {
	// Disk has the newest copy of a hub with the same settings, and State is that; nil for none.
	Disk  *Disk
	State []byte
	// PassedOver are the disks whose copies are of a hub with other settings.
	PassedOver []string
}

// Find looks on all disks of the host for copies of the installation. Disks that cannot be read
// have none: nobody waits for them.
func Find(host hostfile.Dir, p Place) (Found, error) {
	var all Found
	names, err := os.ReadDir(host.Path("/sys/block"))
	if os.IsNotExist(err) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	for _, name := range names {
		if noDisk.MatchString(name.Name()) {
			continue
		}
		d := On(host, "/dev/"+name.Name(), p)
		state, err := d.read()
		switch {
		case err != nil:
		case d.Other:
			all.PassedOver = append(all.PassedOver, d.Path)
		case state != nil && (all.Disk == nil || d.Generation > all.Disk.Generation):
			all.Disk, all.State = d, state
		}
	}
	return all, nil
}

// On is a disk of the host without a copy. In a folder that stands in the place of a host, a
// regular file is one, too.
func On(host hostfile.Dir, path string, p Place) *Disk {
	return &Disk{Place: p, Path: host.Path(path), Plain: host.Root != "" && host.Root != "/"}
}
