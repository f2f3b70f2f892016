package coreos

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/ironflow/ironflow/agent/install"
	"github.com/ironflow/ironflow/agent/install/effect"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// unused refuses a disk of which something is mounted: it carries the running
// system, or somebody works with it.
func (i *Installer) unused(ctx context.Context, disk string) error {
	tree, err := blockdev.Tree(ctx, i.exec(), disk)
	if err != nil {
		return err
	}
	mounts, err := i.mounts()
	if err != nil {
		return err
	}
	for _, d := range flatten(tree) {
		if point, ok := mounts[d.Path]; ok {
			return fmt.Errorf("%s is in use: %s is mounted on %s", disk, d.Path, point)
		}
	}
	return nil
}

// mounts are the mount points of devices, as the host's first process sees them.
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
		if len(mount) >= 5 && len(source) >= 2 && strings.HasPrefix(source[1], "/dev/") {
			points[source[1]] = mount[4]
		}
	}
	return points, lines.Err()
}

// flatten lists the devices of a tree, the upper ones first, each once.
func flatten(tree []blockdev.Device) []blockdev.Device {
	var out []blockdev.Device
	seen := map[string]bool{}
	var walk func([]blockdev.Device)
	walk = func(list []blockdev.Device) {
		for _, d := range list {
			walk(d.Children)
			if !seen[d.Path] {
				seen[d.Path] = true
				out = append(out, d)
			}
		}
	}
	walk(tree)
	return out
}

// clean removes what an earlier system has left on the disks that the order
// names, and on no other: a leftover that came to life would hold the new disk.
// It is best effort, and failures are logged: the writing of the image is what counts.
func (i *Installer) clean(ctx context.Context, job install.Job, report install.Report) error {
	var disks []string
	if !job.Request.SkipInstallationDiskCleanup {
		disks = append(disks, job.Disk)
	}
	for _, disk := range job.Format {
		if disk == job.Disk {
			continue // its own flag has the word
		}
		if err := i.unused(ctx, disk); err != nil {
			i.Log.Warn("a disk to format is left as it is", "disk", disk, "error", err)
			continue
		}
		disks = append(disks, disk)
	}
	for _, disk := range disks {
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

// cleanDisk removes LVM, software RAID and signatures, in this order. Only what
// lies on the disk itself is written: a volume group or an array that reaches to
// another disk is taken apart, and its other parts stay as they are.
func (i *Installer) cleanDisk(ctx context.Context, disk string) error {
	tree, err := blockdev.Tree(ctx, i.exec(), disk)
	if err != nil {
		return err
	}
	devices := flatten(tree)
	for _, d := range devices {
		if d.FSType == blockdev.LVMMember {
			i.try(ctx, effect.RemoveVolumeGroup, d.Path, func() error { return i.removePhysicalVolume(ctx, d.Path) })
		}
	}
	for _, d := range devices {
		if strings.HasPrefix(d.Type, "raid") {
			i.try(ctx, effect.StopRAID, d.Path, i.command(ctx, "mdadm", "--stop", d.Path))
		}
	}
	for _, d := range devices {
		if d.FSType == blockdev.RAIDMember && ownPart(d) {
			i.try(ctx, effect.ZeroRAIDMember, d.Path, i.command(ctx, "mdadm", "--zero-superblock", d.Path))
		}
	}
	for _, d := range devices {
		if ownPart(d) {
			i.try(ctx, effect.WipeSignatures, d.Path, i.command(ctx, "wipefs", "--all", "--force", d.Path))
		}
	}
	return nil
}

// ownPart tells whether the device is the disk or a partition of it, and not
// something that may reach to other disks.
func ownPart(d blockdev.Device) bool {
	return d.Type == "disk" || d.Type == "part" || d.Type == "loop" || d.Type == "mpath"
}

// removePhysicalVolume deactivates the volume group of the device and takes the
// device out of it.
func (i *Installer) removePhysicalVolume(ctx context.Context, device string) error {
	out, err := hostexec.Output(ctx, i.exec(), "lvm", "pvs", "--noheadings", "--options", "vg_name", device)
	if err != nil {
		return err
	}
	lines := strings.Fields(out)
	if len(lines) == 1 {
		if err := i.command(ctx, "lvm", "vgchange", "--activate", "n", "--", lines[0])(); err != nil {
			i.Log.Warn("the volume group stays active", "group", lines[0], "error", err)
		}
	}
	return i.command(ctx, "lvm", "pvremove", "--yes", "--force", "--force", device)()
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
