package blockdev

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// TreeColumns are lsblk's columns of [Device]. Without NAME lsblk gives no tree
// but all devices in a row.
const TreeColumns = "NAME,KNAME,PATH,TYPE,FSTYPE,LABEL,MAJ:MIN"

// Contents of a device that say what it is a part of, as lsblk names them.
const (
	RAIDMember = "linux_raid_member"
	LVMMember  = "LVM2_member"
)

// Device is a row of lsblk's tree: a disk, or what lies on one.
type Device struct {
	Path string `json:"path"`
	// KName is the kernel's own name: that of /dev/mapper/mpatha is dm-0.
	KName string `json:"kname"`
	// Type is disk, part, lvm, raid1, mpath and so on; FSType its content.
	Type   string `json:"type"`
	FSType string `json:"fstype"`
	// Label is that of the file system.
	Label string `json:"label"`
	// Number is the kernel's number of the device, 8:0: it has one, and many names.
	Number   string   `json:"maj:min"`
	Children []Device `json:"children"`
}

// KernelName is how sysfs calls the device.
func (d Device) KernelName() string { return cmp.Or(d.KName, filepath.Base(d.Path)) }

// IsRAID tells whether it is an assembled software RAID.
func (d Device) IsRAID() bool { return isRAID(d.Type) }

// each calls f with the device and all that lies on it.
func (d Device) each(f func(Device)) {
	f(d)
	for _, child := range d.Children {
		child.each(f)
	}
}

// Find returns the device of that path, wherever it lies in the tree. The kernel's own
// name counts as well: /dev/dm-0 is /dev/mapper/mpatha.
func Find(tree []Device, path string) (Device, bool) {
	for _, d := range tree {
		if d.Path == path || "/dev/"+d.KernelName() == path {
			return d, true
		}
		if found, ok := Find(d.Children, path); ok {
			return found, true
		}
	}
	return Device{}, false
}

// Tree returns the disks with what lies on them: of the named ones, or of all.
func Tree(ctx context.Context, run hostexec.Exec, disks ...string) ([]Device, error) {
	out, err := hostexec.Output(ctx, run, append([]string{"lsblk", "--json", "--output", TreeColumns}, disks...)...)
	if err != nil {
		return nil, err
	}
	tree, err := decode[Device](out)
	if err != nil {
		return nil, err
	}
	if len(disks) > 0 && len(tree) != len(disks) {
		return nil, fmt.Errorf("lsblk's answer for %v is no tree: it begins with %d devices", disks, len(tree))
	}
	return tree, nil
}

// rescanTime bounds what is only of use.
const rescanTime = time.Minute

// kpartx is tried several times: the mapper may be busy with what it makes anew.
const (
	kpartxTries = 5
	kpartxPause = time.Second
)

// Rescan makes the kernel and udev see the disk's partitions. Whoever wrote the
// disk has done it, but not for whoever held it open then; and coreos-installer takes
// the partitions of a mapped disk away again, which the kernel does not make by itself.
// A failure is a warning only, and warn gets it.
func Rescan(ctx context.Context, run hostexec.Exec, disk string, warn func(error)) {
	ctx, cancel := context.WithTimeoutCause(ctx, rescanTime, fmt.Errorf("no end in %v", rescanTime))
	defer cancel()
	if err := reread(ctx, run, disk); err != nil {
		warn(err)
	}
	if _, err := hostexec.Output(ctx, run, "udevadm", "settle"); err != nil {
		warn(err)
	}
}

// IsMapped tells by its path that the device is one of the mapper, whose partitions are
// devices that somebody has to make.
func IsMapped(path string) bool {
	return strings.HasPrefix(path, "/dev/mapper/") || strings.HasPrefix(path, "/dev/dm-")
}

func reread(ctx context.Context, run hostexec.Exec, disk string) error {
	if !IsMapped(disk) {
		_, err := hostexec.Output(ctx, run, "blockdev", "--rereadpt", disk)
		return err
	}
	for try := 1; ; try++ {
		// Without -n it waits for udev by a semaphore, which a container may not share.
		_, err := hostexec.Output(ctx, run, "kpartx", "-u", "-n", disk)
		if err == nil || hostexec.Missing(err) || try == kpartxTries {
			return err
		}
		select {
		case <-time.After(kpartxPause):
		case <-ctx.Done():
			return err
		}
	}
}
