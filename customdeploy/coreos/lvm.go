package coreos

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// letGo deactivates the volume groups that lie on the disk, and on arrays that are
// removed: the live system has activated what it found, and what is active holds its
// disks. Nothing of them is written. What fails is a warning: whoever needs the disk
// finds out.
func letGo(ctx context.Context, run hostexec.Exec, disk string, removes bool, kept []string, warn func(error)) error {
	tree, err := blockdev.Tree(ctx, run)
	if err != nil {
		return err
	}
	var from []blockdev.Device
	if removes {
		for _, array := range raidsOf(tree).without(kept).arrays {
			found, _ := blockdev.Find(tree, array.path) // it is of this tree
			from = append(from, found)
		}
	}
	if found, ok := blockdev.Find(tree, disk); ok && !found.IsRAID() {
		from = append(from, found)
	}
	var done []string
	for _, layer := range writable.Flatten(from) {
		if layer.FSType != blockdev.LVMMember {
			continue
		}
		out, err := hostexec.Output(ctx, run, "lvm", "pvs", "--noheadings", "--options", "vg_name", layer.Path)
		group := strings.TrimSpace(out)
		if err == nil && group != "" && len(strings.Fields(group)) == 1 && !slices.Contains(done, group) {
			done = append(done, group)
			_, err = hostexec.Output(ctx, run, "lvm", "vgchange", "--activate", "n", "--", group)
		}
		if err != nil {
			warn(fmt.Errorf("the volume group on %s may stay active: %w", layer.Path, err))
		}
	}
	return nil
}
