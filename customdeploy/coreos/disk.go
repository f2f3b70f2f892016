package coreos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/step"
	"github.com/ironflow/ironflow/customdeploy/writable"
)

// target is the disk to install to.
type target struct {
	blockdev.Disk
	why string
	// warning is what is odd about it.
	warning string
	// args are the kernel arguments that the installed system needs to find it.
	args []string
	// kept are the disks and arrays that stay as they are.
	kept []string
}

// choose takes the disk that IPA itself would take: by IPA's own answer where the
// plugin has asked, else by the same rules. Either must be one that may be written.
func (s *Step) choose(ctx context.Context, req *step.Request, plan Plan) (target, error) {
	all, err := blockdev.Disks(ctx, s.Exec, req.Host)
	if err != nil {
		return target{}, fmt.Errorf("list the disks: %w", err)
	}
	host, err := writable.Look(ctx, s.Exec, req.Host)
	if err != nil {
		return target{}, err
	}
	disks := blockdev.Join(all, host.Tree)
	if err := plan.keep(ctx, s.Exec, host, all, stays(host, req.Node)); err != nil {
		return target{}, err
	}
	chosen, why, err := answered(req, disks, host)
	if err == nil && chosen.Path == "" {
		chosen, why, err = plan.Hints.Choose(offered(disks, host))
		if err != nil {
			err = errors.Join(err, refusals(disks, host))
		}
	}
	if err != nil {
		return target{}, err
	}
	warning, err := plan.secondBoot(host, chosen, !keepsArrays(req.Node))
	if err != nil {
		return target{}, err
	}
	t := target{Disk: chosen, why: why, warning: warning}
	if twins := host.Twins(chosen.Path); len(twins) > 0 {
		t.warning = joined(t.warning, fmt.Sprintf("%s is one path of a disk that %s reaches too, and multipathd has made no multipath disk of them: the installed system depends on this one path", chosen.Path, strings.Join(twins, ", ")))
	}
	t.keep(host)
	t.args, err = t.kernelArgs(plan.KernelArgs, req.Host)
	return t, err
}

// unchanged says why the chosen disk may not be written any more; nil if it may. Until it is
// written minutes go by, and one that fails may come back by another name. It notes what has to
// stay as it is and was not there before.
func (s *Step) unchanged(ctx context.Context, req *step.Request, plan Plan, chosen *target) error {
	all, err := blockdev.Disks(ctx, s.Exec, req.Host)
	if err != nil {
		return fmt.Errorf("list the disks: %w", err)
	}
	host, err := writable.Look(ctx, s.Exec, req.Host)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(d blockdev.Disk) bool { return d.Path == chosen.Path })
	if i < 0 {
		if _, there := blockdev.Find(host.Tree, chosen.Path); there {
			return fmt.Errorf("%s is none that can be written any more: it has become read-only, or has no size now", chosen.Path)
		}
		return fmt.Errorf("%s has gone", chosen.Path)
	}
	if !all[i].Is(chosen.Disk) {
		return fmt.Errorf("%s is another disk (%s) than when it was chosen (%s); neither is written", chosen.Path, all[i].Identity(), chosen.Identity())
	}
	if err := plan.keep(ctx, s.Exec, host, all, stays(host, req.Node)); err != nil {
		return err
	}
	chosen.keep(host)
	if chosen.IsRAID() {
		return host.InUse(chosen.Path)
	}
	return host.Refusal(chosen.Path)
}

// keep adds what has to stay as it is.
func (t *target) keep(host *writable.Host) {
	for _, d := range writable.Flatten(host.Tree) {
		if host.Kept(d.Path) != "" && !slices.Contains(t.kept, d.Path) {
			t.kept = append(t.kept, d.Path)
		}
	}
}

// keepsArrays tells that the node's owner has switched cleaning off.
func keepsArrays(node step.Node) bool { return node.AutomatedClean != nil && !*node.AutomatedClean }

// answered is the disk of IPA's answer; an empty one when there is no answer that
// holds. A path of a multipath disk means that disk: IPA sees it only where its own
// container has the multipath tools. A software RAID that the step removes first is
// no answer; one that stays is, such as the node's root volume.
func answered(req *step.Request, disks []blockdev.Disk, host *writable.Host) (blockdev.Disk, string, error) {
	none, answer := blockdev.Disk{}, req.RootDevice
	if answer == nil {
		return none, "", nil
	}
	if answer.Error != "" {
		return none, "", fmt.Errorf("IPA finds no disk to install to: %s; there are: %s", answer.Error, list(disks))
	}
	is := func(d blockdev.Disk) bool { return d.Path == answer.Name || "/dev/"+d.KernelName == answer.Name }
	i := slices.IndexFunc(disks, func(d blockdev.Disk) bool { return is(d) || slices.ContainsFunc(d.Paths, is) })
	switch {
	case i < 0:
		return none, "", fmt.Errorf("IPA takes %s, which is none of the disks that may be written: %s", answer.Name, list(disks))
	case disks[i].IsRAID() && host.Kept(disks[i].Path) == "":
		return none, "", nil
	case disks[i].IsRAID() && !exists(req.Host, firmwareUEFI):
		return none, "", fmt.Errorf("IPA takes the software RAID %s, from which no BIOS boots CoreOS: name a disk in rootDeviceHints, and mirror it by the Ignition config (boot_device.mirror of Butane)", answer.Name)
	}
	refusal := host.Refusal
	if disks[i].IsRAID() {
		refusal = host.InUse // it stays an array
	}
	if err := refusal(disks[i].Path); err != nil {
		return none, "", fmt.Errorf("IPA takes %s, but %w; name another disk in rootDeviceHints", answer.Name, err)
	}
	if disks[i].Path != answer.Name && len(disks[i].Paths) > 0 {
		return disks[i], fmt.Sprintf("IPA takes %s, which is this multipath disk", answer.Name), nil
	}
	return disks[i], "IPA takes it", nil
}

// offered are the disks that may be chosen.
func offered(disks []blockdev.Disk, host *writable.Host) []blockdev.Disk {
	return slices.DeleteFunc(slices.Clone(disks), func(d blockdev.Disk) bool { return d.IsRAID() || host.Refusal(d.Path) != nil })
}

// refusals say why the other disks are none to choose.
func refusals(disks []blockdev.Disk, host *writable.Host) error {
	var all []error
	for _, d := range disks {
		if !d.IsRAID() {
			all = append(all, host.Refusal(d.Path))
		}
	}
	return errors.Join(all...)
}

// What the firmware tells: that it is UEFI, and its table of iSCSI targets.
const (
	firmwareUEFI = "/sys/firmware/efi"
	firmwareDir  = "/sys/firmware"
)

// bootTables are the firmware's tables of iSCSI targets below [firmwareDir]: by the
// kernel's module, by an adapter that does iSCSI itself, and raw, where the live system
// has not loaded the module.
var bootTables = []string{"ibft", "iscsi_boot*", "acpi/tables/iBFT"}

// bootsISCSI tells whether the firmware knows any target.
func bootsISCSI(dir hostfile.Dir) bool {
	return slices.ContainsFunc(bootTables, func(table string) bool {
		found, err := filepath.Glob(filepath.Join(dir.Path(firmwareDir), table))
		return err == nil && len(found) > 0
	})
}

func exists(dir hostfile.Dir, path string) bool {
	_, err := os.Stat(dir.Path(path))
	return err == nil
}

// Arguments by which the installed system finds its root, as the hub adds them for
// the agent's installer.
var (
	multipathArgs = []string{"root=/dev/disk/by-label/dm-mpath-root", "rw", "rd.multipath=default"}
	iscsiArgs     = []string{"rd.iscsi.firmware=1"}
	raidArgs      = []string{"rd.md=1", "rd.auto=1"}
)

// kernelArgs are what the installed system needs to find this disk again. The user's
// own arguments win: who says where the root or the target is needs none of ours.
func (t target) kernelArgs(own []string, dir hostfile.Dir) ([]string, error) {
	var args []string
	has := func(begins ...string) bool {
		return slices.ContainsFunc(own, func(arg string) bool {
			return slices.ContainsFunc(begins, func(begin string) bool { return strings.HasPrefix(arg, begin) })
		})
	}
	if t.Kind == blockdev.KindMultipath && !has("root=", "rd.multipath=") {
		args = append(args, multipathArgs...)
	}
	if t.IsRAID() && !has("rd.md", "rd.auto") {
		args = append(args, raidArgs...)
	}
	if t.overISCSI() && !has("netroot=iscsi:", "rd.iscsi.") {
		if !bootsISCSI(dir) {
			return nil, fmt.Errorf("%s is an iSCSI disk that the firmware does not know (it has no table of iSCSI targets), so the machine cannot boot from it: set the target up in the firmware, or give netroot=iscsi:… in coreos_append_karg", t.Path)
		}
		args = append(args, iscsiArgs...)
	}
	return args, nil
}

// overISCSI tells whether the disk, or a path to it, is an iSCSI target.
func (t target) overISCSI() bool {
	return slices.ContainsFunc(append(slices.Clone(t.Paths), t.Disk), func(d blockdev.Disk) bool {
		return d.Transport == "iscsi" || slices.ContainsFunc(d.Links, func(link string) bool { return strings.Contains(link, "-iscsi-") })
	})
}
