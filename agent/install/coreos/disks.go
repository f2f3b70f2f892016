package coreos

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/agent/inventory/disks"
	"github.com/ironflow/ironflow/agent/inventory/mounts"
	machine "github.com/ironflow/ironflow/agent/inventory/source"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// unused refuses what is no whole disk or only a path of one, and a disk of which something is mounted or swapped to:
// it carries the running system, or somebody works with it.
func (i *Installer) unused(ctx context.Context, disk string) error {
	tree, err := blockdev.Tree(ctx, i.exec(), disk)
	if err != nil {
		return err
	}
	for _, d := range tree {
		if slices.Contains(piecesOfDisks, d.Type) {
			return fmt.Errorf("%s is no whole disk, its type is %s", disk, d.Type)
		}
		// Its paths are held by multipathd, and each is the same disk as the others.
		if n := slices.IndexFunc(d.Children, func(c blockdev.Device) bool { return c.Type == "mpath" }); n >= 0 {
			return fmt.Errorf("%s is one path of the multipath disk %s; the order must name that", disk, d.Children[n].Path)
		}
	}
	mounted, err := i.mounts()
	if err != nil {
		return err
	}
	for _, d := range flatten(tree) {
		point, ok := mounted[d.Number]
		if !ok {
			point, ok = mounted[d.Path]
		}
		if ok {
			return fmt.Errorf("%s is in use: %s is mounted on %s", disk, d.Path, point)
		}
	}
	// What the mount table does not name: swap, and file systems of many devices.
	m := machine.Live(i.Dir)
	if at := disks.InUse(m, filepath.Base(disk), mounts.Read(m)); len(at) > 0 {
		return fmt.Errorf("%s is in use: something of it is mounted on %s", disk, at[0])
	}
	return nil
}

// piecesOfDisks are lsblk's types of what lies on a disk.
var piecesOfDisks = []string{"part", "lvm", "crypt"}

// mounts are the mount points of devices, as the host's first process sees them,
// by the device's number and by the name that it was mounted by: a device has
// many names, and some file systems (btrfs) have a number of their own.
func (i *Installer) mounts() (map[string]string, error) {
	f, err := os.Open(i.Dir.Path("/proc/1/mountinfo"))
	if err != nil {
		return nil, fmt.Errorf("list what is mounted: %w", err)
	}
	defer f.Close()
	points := map[string]string{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		// ID PARENT MAJ:MIN ROOT POINT OPTIONS [FIELDS] - TYPE SOURCE SUPER
		front, back, _ := strings.Cut(lines.Text(), " - ")
		mount, source := strings.Fields(front), strings.Fields(back)
		if len(mount) < 5 || len(source) < 2 {
			continue
		}
		if !strings.HasPrefix(mount[2], "0:") { // no device
			points[mount[2]] = mount[4]
		}
		if strings.HasPrefix(source[1], "/dev/") {
			points[source[1]] = mount[4]
		}
	}
	return points, lines.Err()
}

// layer is a device of a disk's tree.
type layer struct {
	blockdev.Device
	// own is true for the disk itself and its partitions: what is written to them
	// is written to this disk. Anything else (RAID, LVM, a cache) may reach to
	// other disks.
	own bool
}

// flatten lists the devices of a tree, the upper ones first, each once.
func flatten(tree []blockdev.Device) []layer {
	var out []layer
	seen := map[string]bool{}
	var walk func(d blockdev.Device, own bool)
	walk = func(d blockdev.Device, own bool) {
		for _, child := range d.Children {
			walk(child, own && child.Type == "part")
		}
		if !seen[d.Path] {
			seen[d.Path] = true
			out = append(out, layer{d, own})
		}
	}
	for _, d := range tree {
		walk(d, true)
	}
	return out
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
func (i *Installer) clean(ctx context.Context, job install.Job, report install.Report) error {
	var chosen []string
	if !job.Request.SkipInstallationDiskCleanup && !savesPartitions(job.Args) {
		chosen = append(chosen, job.Disk)
	}
	for n, disk := range job.Format {
		if disk == job.Disk {
			continue // its own flag has the word
		}
		err := errors.Join(i.unmoved(ctx, job.Request.DisksToFormat[n], disk), i.unused(ctx, disk), i.apart(ctx, disk, job.Disk))
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
			if slices.ContainsFunc(flatten(lower), func(l layer) bool { return l.Path == root.Path }) {
				return fmt.Errorf("%s lies on %s; one of them is the disk to install to", pair[1], pair[0])
			}
		}
	}
	return nil
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
	devices := flatten(tree)
	for _, d := range devices {
		if d.FSType == blockdev.LVMMember {
			i.try(ctx, effect.RemoveVolumeGroup, d.Path, func() error { return i.removePhysicalVolume(ctx, d) })
		}
	}
	for _, d := range devices {
		if isArray(d) && !d.own {
			i.try(ctx, effect.StopRAID, d.Path, i.command(ctx, "mdadm", "--stop", d.Path))
		}
	}
	for _, d := range devices {
		if d.FSType == blockdev.RAIDMember && d.own {
			i.try(ctx, effect.ZeroRAIDMember, d.Path, i.command(ctx, "mdadm", "--zero-superblock", d.Path))
		}
	}
	for _, d := range devices {
		if d.own {
			i.try(ctx, effect.WipeSignatures, d.Path, i.command(ctx, "wipefs", "--all", "--force", d.Path))
		}
	}
	return nil
}

// isArray tells whether mdadm has made the device.
func isArray(d layer) bool {
	return strings.HasPrefix(d.Type, "raid") || slices.Contains([]string{"md", "linear", "container"}, d.Type)
}

// removePhysicalVolume deactivates the volume group of the device and takes the
// device out of it, if it is the disk's own: on an array the label belongs to
// the other members as well.
func (i *Installer) removePhysicalVolume(ctx context.Context, device layer) error {
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
	if !device.own {
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
