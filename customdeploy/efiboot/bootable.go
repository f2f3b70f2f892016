// Package efiboot is the firmware's boot menu on UEFI hosts: [Firmware.First] puts
// the system that was just installed first in it, [Bootable] tells whether the
// firmware will find a system on a disk at all. Entries are known by partition and
// loader, never by label; efibootmgr does the writing.
package efiboot

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// Bootable tells whether the firmware will find a system on the disk that an
// installer has written: by an entry of its boot menu for one of the disk's
// partitions, or by the fall-back loader on it. Without UEFI, or without a disk
// to look at, the answer is yes. An error means that it cannot be found out.
func Bootable(ctx context.Context, run hostexec.Exec, host hostfile.Dir, disk string) (bool, error) {
	if disk == "" || !bootedByUEFI(host) {
		return true, nil
	}
	list, err := blockdev.Partitions(ctx, run, disk)
	if err != nil {
		return false, err
	}
	menu, trouble := hostexec.Output(ctx, run, "efibootmgr", "-v")
	if slices.ContainsFunc(list, func(p blockdev.Partition) bool { return p.UUID != "" && hasEntry(menu, p.UUID) }) {
		return true, nil
	}
	for _, p := range list {
		if !p.IsESP() {
			continue
		}
		found, err := loadersOn(ctx, run, host, p.Path)
		if slices.ContainsFunc(found, isFallback) {
			return true, nil
		}
		trouble = errors.Join(trouble, err)
	}
	return false, trouble
}

// hasEntry tells whether an entry of the menu starts from the partition.
func hasEntry(menu, partUUID string) bool {
	return slices.ContainsFunc(entryForm.FindAllStringSubmatch(menu, -1), func(m []string) bool { return strings.EqualFold(m[2], partUUID) })
}
