// Package efiboot is the firmware's boot menu on UEFI hosts: [Firmware.First] puts
// the system that was just installed first in it, [Bootable] tells whether the
// firmware will find a system on a disk at all. Entries are known by partition and
// loader, never by label. The menu is read and written as the variables that the
// kernel shows in efivarfs, without a program between: one entry that a program does
// not understand must not keep the others from being looked at.
package efiboot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// bootedByUEFI tells whether there is a firmware with a boot menu.
func bootedByUEFI(host hostfile.Dir) bool {
	_, err := os.Stat(host.Path("/sys/firmware/efi"))
	return err == nil
}

// Bootable tells whether the firmware will find a system on the disk that an
// installer has written: by an entry of its boot menu for one of the disk's
// partitions, which must be active and in the boot order, or by the fall-back loader
// on it. Without UEFI, or without a disk to look at, the answer is yes. An error means
// that it cannot be found out.
func Bootable(ctx context.Context, run hostexec.Exec, host hostfile.Dir, disk string) (bool, error) {
	if disk == "" || !bootedByUEFI(host) {
		return true, nil
	}
	list, err := blockdev.Partitions(ctx, run, disk)
	if err != nil {
		return false, err
	}
	if len(list) < 2 && blockdev.IsMapped(disk) {
		return false, fmt.Errorf("the partitions of %s are not mapped", disk)
	}
	menu, trouble := readMenu(host)
	if slices.ContainsFunc(list, func(p blockdev.Partition) bool {
		id, err := uuid.Parse(p.UUID)
		return err == nil && menu.boots(id)
	}) {
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
