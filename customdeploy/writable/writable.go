// Package writable says whether a disk of this host may be written, and why not.
// The deploy step install_coreos and the host agent ask it alike, so that no disk is
// refused by the one and destroyed by the other. It decides by what is there: what
// lies on the disks ([Look]), what of it is in use, and what the caller says must
// stay ([Host.Keep]). Which disk of several is chosen is the caller's business.
package writable

import (
	"context"
	"fmt"
	"slices"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/nodeword"
)

// Host is what is known of a host's disks.
type Host struct {
	// Tree is what lies on what.
	Tree []blockdev.Device
	uses uses
	kept map[string]string
}

// PathError refuses a disk that is only a path to another one: multipathd holds it,
// and all paths are the same disk.
type PathError struct{ Path, Disk string }

func (e *PathError) Error() string {
	return fmt.Sprintf("%s is one path of the multipath disk %s", e.Path, e.Disk)
}

// Look looks at the named disks, or at all.
func Look(ctx context.Context, run hostexec.Exec, dir hostfile.Dir, disks ...string) (*Host, error) {
	tree, err := blockdev.Tree(ctx, run, disks...)
	if err != nil {
		return nil, err
	}
	uses, err := readUses(dir)
	if err != nil {
		return nil, err
	}
	return &Host{Tree: tree, uses: uses, kept: map[string]string{}}, nil
}

// Keep says that a disk or a RAID must stay as it is, and why.
func (h *Host) Keep(path, why string) { h.kept[path] = why }

// KeepOfNode keeps what the node says that nobody may touch.
func (h *Host) KeepOfNode() error {
	kept, err := nodeword.OfNode(h.uses.machine)
	for device, why := range kept {
		h.Keep(device, why)
	}
	return err
}

// Kept tells why something must stay; empty: it need not.
func (h *Host) Kept(path string) string { return h.kept[path] }

// notWhole are lsblk's types of what is no disk but lies on one, or has no place for
// a system.
var notWhole = []string{"part", "lvm", "crypt", "md", "rom"}

// Refusal says why the disk may not be written, nil if it may. What lies on a disk that
// lsblk does not show is not known.
func (h *Host) Refusal(disk string) error {
	if why := h.kept[disk]; why != "" {
		return fmt.Errorf("%s must stay as it is: %s", disk, why)
	}
	device, ok := blockdev.Find(h.Tree, disk)
	if !ok {
		return fmt.Errorf("%s may not be written: lsblk does not show it, so that nobody knows what lies on it", disk)
	}
	if err := h.refused(device); err != nil {
		return err
	}
	return h.refusedTwin(disk)
}

// refused says why the device, by itself, may not be written.
func (h *Host) refused(device blockdev.Device) error {
	disk := device.Path
	if why := h.kept[disk]; why != "" {
		return fmt.Errorf("%s must stay as it is: %s", disk, why)
	}
	if slices.Contains(notWhole, device.Type) {
		return fmt.Errorf("%s is no whole disk, its type is %s", disk, device.Type)
	}
	for _, child := range device.Children {
		if child.Type == blockdev.KindMultipath {
			return &PathError{Path: disk, Disk: child.Path}
		}
	}
	for _, part := range Flatten([]blockdev.Device{device}) {
		why := h.kept[part.Path]
		switch {
		case why != "" && part.Own:
			return fmt.Errorf("%s has %s, which must stay as it is: %s", disk, part.Path, why)
		case why != "":
			return fmt.Errorf("%s is a member of %s, which must stay as it is: %s", disk, part.Path, why)
		}
	}
	return h.uses.of(device)
}

// InUse says what of the disk is in use, nil for nothing: a part of [Host.Refusal].
func (h *Host) InUse(disk string) error {
	device, ok := blockdev.Find(h.Tree, disk)
	if !ok {
		return nil
	}
	return h.uses.of(device)
}

// Layer is a device of a disk's tree.
type Layer struct {
	blockdev.Device
	// Own is true for the disk itself and its partitions: what is written to them
	// is written to this disk. Anything else (RAID, LVM, a cache) may reach to
	// other disks.
	Own bool
}

// Flatten lists the devices of a tree, the upper ones first, each once.
func Flatten(tree []blockdev.Device) []Layer {
	var out []Layer
	seen := map[string]bool{}
	var walk func(d blockdev.Device, own bool)
	walk = func(d blockdev.Device, own bool) {
		for _, child := range d.Children {
			walk(child, own && child.Type == "part")
		}
		if !seen[d.Path] {
			seen[d.Path] = true
			out = append(out, Layer{d, own})
		}
	}
	for _, d := range tree {
		walk(d, true)
	}
	return out
}
