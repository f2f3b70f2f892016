package diskcopy

import (
	"os"
	"regexp"

	"github.com/ironflow/ironflow/api/hostfile"
)

// noDisk are devices that are no disks of a host, or are made of them.
var noDisk = regexp.MustCompile(`^(loop|ram|zram|sr|fd|nbd|dm-|md)`)

// Find looks on all disks of the host for the newest copy of the installation. The disk is nil
// where there is none. Disks that cannot be read have none: nobody waits for them.
func Find(host hostfile.Dir, p Place) (*Disk, []byte, error) {
	names, err := os.ReadDir(host.Path("/sys/block"))
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var newest *Disk
	var state []byte
	for _, name := range names {
		if noDisk.MatchString(name.Name()) {
			continue
		}
		d := On(host, "/dev/"+name.Name(), p)
		found, err := d.read()
		if err == nil && found != nil && (newest == nil || d.Generation > newest.Generation) {
			newest, state = d, found
		}
	}
	return newest, state, nil
}

// On is a disk of the host without a copy. In a folder that stands in the place of a host, a
// regular file is one, too.
func On(host hostfile.Dir, path string, p Place) *Disk {
	return &Disk{Place: p, Path: host.Path(path), Plain: host.Root != "" && host.Root != "/"}
}
