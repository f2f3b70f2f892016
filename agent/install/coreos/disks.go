package coreos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// unused refuses a disk that may not be written: what is no whole disk or only a
// path of one, and a disk of which something is in use.
func (i *Installer) unused(ctx context.Context, disk string) error {
	host, err := writable.Look(ctx, i.exec(), i.Dir, disk)
	if err != nil {
		return err
	}
	if err := host.KeepOfNode(); err != nil {
		return err
	}
	if twins := host.Twins(disk); len(twins) > 0 {
		i.Log.Warn("the disk has several paths, of which multipathd has made no disk", "disk", disk, "others", twins)
	}
	err = host.Refusal(disk)
	if path, ok := errors.AsType[*writable.PathError](err); ok {
		return fmt.Errorf("%w; the order must name that", path)
	}
	return err
}

// unmoved finds the device of the order once more: names below /dev/disk are
// links, and a disk that was pulled out or found anew may have another device now.
func (i *Installer) unmoved(ctx context.Context, name, device string) error {
	found, err := i.Resolve(name)
	if err != nil { // udev may be at work on its links
		if _, settled := hostexec.Output(ctx, i.exec(), "udevadm", "settle"); settled != nil {
			return errors.Join(err, settled)
		}
		if found, err = i.Resolve(name); err != nil {
			return err
		}
	}
	if found != device {
		return fmt.Errorf("the order names %s, which was %s when it came and is %s now; neither is written", name, device, found)
	}
	return nil
}

// clean removes what an earlier system has left on the disks that the order
// names, and on no other: a leftover that came to life would hold the new disk.
// It is best effort, and failures are logged: the writing of the image is what counts.
// Only that the disk of the order may be written is a must, and it is looked at once more:
// since the order was checked, hours may have gone by in which the hub was not there.
func (i *Installer) clean(ctx context.Context, job install.Job, report install.Report) error {
	if err := i.forbidden(ctx, job); err != nil {
		return err
	}
	var chosen []string
	if !job.Request.SkipInstallationDiskCleanup && !savesPartitions(job.Args) {
		chosen = append(chosen, job.Disk)
	}
	for n, disk := range job.Format {
		if disk == job.Disk {
			continue // its own flag has the word
		}
		err := errors.Join(i.unmoved(ctx, job.Request.DisksToFormat[n], disk), i.unused(ctx, disk), i.apart(ctx, disk, job.Disk), i.another(ctx, disk, job.Disk))
		if err != nil {
			i.Log.Warn("a disk to format is left as it is", "disk", disk, "error", err)
			continue
		}
		chosen = append(chosen, disk)
	}
	for _, disk := range chosen {
		report(-1, "removing what is on "+disk)
		if err := i.cleanDisk(ctx, disk); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			i.Log.Warn("the disk was not cleaned completely", "disk", disk, "error", err)
		}
	}
	return nil
}

// savesPartitions tells whether coreos-installer shall keep partitions: it reads
// them from the table that a clean-up would have wiped.
func savesPartitions(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "--save-part") })
}

// apart refuses a disk to format that the disk of the order lies on, or that lies
// on it: a path of the same multipath disk, a member of the same RAID.
func (i *Installer) apart(ctx context.Context, disk, ordered string) error {
	for _, pair := range [][2]string{{disk, ordered}, {ordered, disk}} {
		lower, err := blockdev.Tree(ctx, i.exec(), pair[0])
		if err != nil {
			return err
		}
		upper, err := blockdev.Tree(ctx, i.exec(), pair[1])
		if err != nil {
			return err
		}
		for _, root := range upper {
			if slices.ContainsFunc(writable.Flatten(lower), func(l writable.Layer) bool { return l.Path == root.Path }) {
				return fmt.Errorf("%s lies on %s; one of them is the disk to install to", pair[1], pair[0])
			}
		}
	}
	return nil
}

// another refuses a disk to format that is the disk of the order by another path, of which
// multipathd has made no disk.
func (i *Installer) another(ctx context.Context, disk, ordered string) error {
	host, err := writable.Look(ctx, i.exec(), i.Dir, disk)
	if err == nil && slices.Contains(host.Twins(disk), ordered) {
		err = fmt.Errorf("%s is the same disk as %s, which is the one to install to (one LUN, two paths)", disk, ordered)
	}
	return err
}

// cleanDisk removes LVM, software RAID and signatures, in this order. Only what
// lies on the disk itself is written: a volume group or an array that reaches to
// another disk is taken apart, and its other parts stay as they are. A disk that
// is an array itself stays one.
func (i *Installer) cleanDisk(ctx context.Context, disk string) error {
	tree, err := blockdev.Tree(ctx, i.exec(), disk)
	if err != nil {
		return err
	}
	devices := writable.Flatten(tree)
	for _, d := range devices {
		if d.FSType == blockdev.LVMMember {
			i.try(ctx, effect.RemoveVolumeGroup, d.Path, func() error { return i.removePhysicalVolume(ctx, d) })
		}
	}
	for _, d := range devices {
		if isArray(d) && !d.Own {
			i.try(ctx, effect.StopRAID, d.Path, i.command(ctx, "mdadm", "--stop", d.Path))
		}
	}
	for _, d := range devices {
		if d.FSType == blockdev.RAIDMember && d.Own {
			i.try(ctx, effect.ZeroRAIDMember, d.Path, i.command(ctx, "mdadm", "--zero-superblock", d.Path))
		}
	}
	for _, d := range devices {
		if d.Own {
			i.try(ctx, effect.WipeSignatures, d.Path, i.command(ctx, "wipefs", "--all", "--force", d.Path))
		}
	}
	return nil
}

// isArray tells whether mdadm has made the device.
func isArray(d writable.Layer) bool {
	return d.IsRAID() || d.Type == "md" || d.Type == "container"
}

// removePhysicalVolume deactivates the volume group of the device and takes the
// device out of it, if it is the disk's own: on an array the label belongs to
// the other members as well.
func (i *Installer) removePhysicalVolume(ctx context.Context, device writable.Layer) error {
	out, err := hostexec.Output(ctx, i.exec(), "lvm", "pvs", "--noheadings", "--options", "vg_name", device.Path)
	if err != nil {
		return err
	}
	lines := strings.Fields(out)
	if len(lines) == 1 {
		if err := i.command(ctx, "lvm", "vgchange", "--activate", "n", "--", lines[0])(); err != nil {
			i.Log.Warn("the volume group stays active", "group", lines[0], "error", err)
		}
	}
	if !device.Own {
		return nil
	}
	return i.command(ctx, "lvm", "pvremove", "--yes", "--force", "--force", device.Path)()
}

func (i *Installer) command(ctx context.Context, argv ...string) func() error {
	return func() error {
		_, err := hostexec.Output(ctx, i.exec(), argv...)
		return err
	}
}

// try does an effect whose failure is only logged.
func (i *Installer) try(ctx context.Context, name effect.Name, target string, change func() error) {
	if err := i.Effects.Do(ctx, name, target, change); err != nil && ctx.Err() == nil {
		i.Log.Warn("clean-up: this was not done", "effect", name, "target", target, "error", err)
	}
}
