package coreos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// skipMember is where Ironic keeps what nobody may touch; a software RAID is named
// by its volume name, disks by hints.
const (
	skipMember = "skip_block_devices"
	volumeName = "volume_name"
)

// Skip is what the node says nobody may touch.
type Skip struct {
	Disks   []Hints
	Volumes []string
}

func (p *Plan) readSkip(node step.Node) error {
	raw, ok := node.Properties[skipMember]
	if !ok || raw == nil {
		return nil
	}
	entries, ok := raw.([]any)
	if !ok {
		return fmt.Errorf("properties.%s must be a list", skipMember)
	}
	for i, entry := range entries {
		hints, ok := entry.(map[string]any)
		if !ok || len(hints) == 0 {
			return fmt.Errorf("properties.%s[%d] must be an object of hints", skipMember, i)
		}
		if volume, ok := hints[volumeName]; ok {
			name, isText := volume.(string)
			if !isText || name == "" || len(hints) > 1 {
				return fmt.Errorf("properties.%s[%d]: %s must be a text and stand alone", skipMember, i, volumeName)
			}
			p.Skip.Volumes = append(p.Skip.Volumes, name)
			continue
		}
		if err := Hints(hints).Check(); err != nil {
			return fmt.Errorf("properties.%s[%d]: %w", skipMember, i, err)
		}
		p.Skip.Disks = append(p.Skip.Disks, hints)
	}
	return nil
}

// Kept are the disks and arrays that the node says nobody may touch, with the reason,
// by their paths: for who writes a disk by somebody else's choice.
func Kept(ctx context.Context, run hostexec.Exec, dir hostfile.Dir, node step.Node) (map[string]string, error) {
	var plan Plan
	if err := plan.readSkip(node); err != nil {
		return nil, err
	}
	if len(plan.Skip.Disks)+len(plan.Skip.Volumes) == 0 {
		return nil, nil
	}
	all, err := blockdev.Disks(ctx, run, dir)
	if err != nil {
		return nil, fmt.Errorf("list the disks: %w", err)
	}
	host, err := writable.Look(ctx, run, dir)
	if err != nil {
		return nil, err
	}
	if err := plan.keep(ctx, run, host, all, func(string) string { return "" }); err != nil {
		return nil, err
	}
	kept := map[string]string{}
	for _, d := range writable.Flatten(host.Tree) {
		if why := host.Kept(d.Path); why != "" {
			kept[d.Path] = why
		}
	}
	return kept, nil
}

// stays says why an array stays though the node does not skip it; empty if it does not.
func stays(host *writable.Host, node step.Node) func(array string) string {
	return func(array string) string {
		if keepsArrays(node) {
			return "the node's automated_clean is off"
		}
		if used := host.InUse(array); used != nil {
			return used.Error()
		}
		return ""
	}
}

// keep tells the host which disks and arrays must stay as they are: what the node
// skips, the arrays that lie on it, and those for which stays has a reason.
func (p Plan) keep(ctx context.Context, run hostexec.Exec, host *writable.Host, all []blockdev.Disk, stays func(array string) string) error {
	p.keepDisks(host, all)
	found := raidsOf(host.Tree)
	if err := p.keepMembers(ctx, run, host, found.members); err != nil {
		return err
	}
	for _, array := range found.arrays {
		why := ""
		for _, below := range array.on {
			if on := host.Kept(below); on != "" {
				why = "it lies on " + below + ", where " + on
			}
		}
		if why == "" {
			why = stays(array.path)
		}
		if why == "" && len(p.Skip.Volumes) > 0 {
			names, err := volumesOf(ctx, run, "--detail", array.path)
			if err != nil {
				return err
			}
			why = p.skipsVolume(names)
		}
		if why != "" && host.Kept(array.path) == "" {
			host.Keep(array.path, why)
		}
	}
	return nil
}

// keepDisks keeps what the hints of the node's list fit. What lies on a disk, such as a
// cache, is looked at as well: it is no disk to install to, but one to leave alone.
func (p Plan) keepDisks(host *writable.Host, all []blockdev.Disk) {
	whole := blockdev.Join(all, host.Tree)
	isPath := func(d blockdev.Disk) bool { // it fits by the disk that it leads to
		return slices.ContainsFunc(whole, func(w blockdev.Disk) bool {
			return slices.ContainsFunc(w.Paths, func(path blockdev.Disk) bool { return path.Path == d.Path })
		})
	}
	for _, d := range slices.Concat(whole, all) {
		for _, hints := range p.Skip.Disks {
			if host.Kept(d.Path) != "" || !hints.fits(d) || isPath(d) {
				continue
			}
			host.Keep(d.Path, fmt.Sprintf("the node's %s has %s", skipMember, hints))
			for _, twin := range host.Twins(d.Path) {
				host.Keep(twin, fmt.Sprintf("it is the same disk as %s, and the node's %s has %s", d.Path, skipMember, hints))
			}
		}
	}
}

// keepMembers keeps the members of arrays that the node skips and that are not assembled,
// such as one that lacks a disk: no array of the tree stands for them. Of the firmware's
// arrays some may be assembled and others not, and only the members know their names.
func (p Plan) keepMembers(ctx context.Context, run hostexec.Exec, host *writable.Host, members []device) error {
	for _, member := range members {
		if len(p.Skip.Volumes) == 0 || len(member.arrays) > 0 && !member.firmware || host.Kept(member.path) != "" {
			continue
		}
		look := volumesOf
		if member.firmware {
			look = firmwareVolumesOf
		}
		names, err := look(ctx, run, "--examine", member.path)
		if err != nil {
			return err
		}
		if why := p.skipsVolume(names); why != "" {
			host.Keep(member.path, why)
		}
	}
	return nil
}

// skipsVolume says that the node skips an array of one of these names; empty if it does not.
func (p Plan) skipsVolume(names []string) string {
	for _, name := range names {
		if slices.Contains(p.Skip.Volumes, name) {
			return fmt.Sprintf("the node's %s has %s=%s", skipMember, volumeName, name)
		}
	}
	return ""
}

// volumesOf is the name that the array was made with, as the array (--detail) or one of its
// members (--examine) has it, none where there is none. mdadm puts the name of the host before it.
func volumesOf(ctx context.Context, run hostexec.Exec, look, device string) (names []string, err error) {
	out, err := askMdadm(ctx, run, look, "--export", device)
	for line := range strings.Lines(out) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "MD_NAME="); ok {
			names = append(names, name[strings.LastIndex(name, ":")+1:])
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return name == "" }), err
}

// firmwareVolumesOf are the names of the arrays that a member of the firmware's describes.
// mdadm exports nothing but their container; it names them as its own configuration would:
// ARRAY /dev/md/NAME container=UUID member=0 UUID=….
func firmwareVolumesOf(ctx context.Context, run hostexec.Exec, look, device string) (names []string, err error) {
	out, err := askMdadm(ctx, run, look, "--brief", device)
	for line := range strings.Lines(out) {
		array, isArray := strings.CutPrefix(strings.TrimSpace(line), "ARRAY /dev/md/")
		if name, _, isVolume := strings.Cut(array, " container="); isArray && isVolume {
			names = append(names, name)
		}
	}
	return names, err
}

func askMdadm(ctx context.Context, run hostexec.Exec, look, form, device string) (string, error) {
	out, err := hostexec.Output(ctx, run, "mdadm", look, form, device)
	if err != nil {
		return "", fmt.Errorf("the volume name of %s, which %s asks for: %w", device, skipMember, err)
	}
	return out, nil
}
