package efiboot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const (
	efiTries = 6
	efiPause = 5 * time.Second
)

// Firmware is the boot menu of one host.
type Firmware struct {
	// Exec runs commands in the root of Host.
	Exec hostexec.Exec
	Host hostfile.Dir
	// Label is the name of a new entry, and of those that are removed when their disk is
	// written anew.
	Label string

	hasFallback bool
}

// First puts the system on the disk first in the boot menu, with one entry for it
// however often it is called. It returns a warning when the firmware refuses but
// will find the disk's fall-back loader by itself. Without UEFI it does nothing.
func (f *Firmware) First(ctx context.Context, disk string) (warning string, err error) {
	if !bootedByUEFI(f.Host) {
		return "", nil
	}
	var loader string
	for try := range efiTries {
		loader, err = f.addEntry(ctx, disk)
		if err == nil {
			return "", nil
		}
		if hostexec.Missing(err) || refused(err) {
			break // it will not change
		}
		if try < efiTries-1 {
			select { // the kernel still reads the new partitions, or the device is busy
			case <-time.After(efiPause):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
	}
	if isFallback(loader) || f.hasFallback {
		return fmt.Sprintf("no entry in the firmware's boot menu (%v); it must find %s by itself", err, "\\EFI\\BOOT"), nil
	}
	return "", fmt.Errorf("boot entry: %w", err)
}

// addEntry makes the entry, or makes the one that is there count; it returns the
// loader that it found.
func (f *Firmware) addEntry(ctx context.Context, disk string) (string, error) {
	esp, err := ESP(ctx, f.Exec, disk)
	if err != nil {
		return "", err
	}
	loader, err := f.findLoader(ctx, esp.Path)
	if err != nil {
		return "", err
	}
	partition, err := guid(esp)
	if err != nil {
		return loader, err
	}
	menu, err := readMenu(f.Host)
	if err != nil {
		return loader, err
	}
	away := menu.removeDead(f.Label, f.Host, partitions(f.Host, partition))
	number, found := menu.find(partition, inMenu(loader))
	if found {
		err = menu.activate(number)
	} else {
		var drive hardDrive
		if drive, err = f.place(esp, partition, disk); err == nil {
			number, err = menu.add(newOption(f.Label, drive, inMenu(loader)))
			if noRoom(err) && len(away) > 0 { // better a system that boots than those that may come back
				menu.remove(away)
				number, err = menu.add(newOption(f.Label, drive, inMenu(loader)))
			}
		}
	}
	if err != nil {
		return loader, err
	}
	return loader, menu.putFirst(number)
}

// guid is what firmware knows a partition by.
func guid(p blockdev.Partition) (uuid.UUID, error) {
	if p.UUID == "" {
		return uuid.Nil, fmt.Errorf("the GUID of partition %s is not known yet", p.Path)
	}
	id, err := uuid.Parse(p.UUID)
	if err != nil {
		return uuid.Nil, fmt.Errorf("partition %s is called %q: %w", p.Path, p.UUID, errNoGPT)
	}
	return id, nil
}

// errNoGPT is for a partition table that knows no GUIDs.
var errNoGPT = errors.New("the disk has no GPT")

// findLoader looks for the best loader on the ESP.
func (f *Firmware) findLoader(ctx context.Context, device string) (string, error) {
	found, err := loadersOn(ctx, f.Exec, f.Host, device)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("the EFI system partition holds no boot loader")
	}
	f.hasFallback = f.hasFallback || slices.ContainsFunc(found, isFallback)
	return found[0], nil
}

// partitions are the GUIDs of all partitions of the host, among them the new one,
// which udev may not know yet; none when they cannot be listed.
func partitions(host hostfile.Dir, own uuid.UUID) []uuid.UUID {
	list, err := os.ReadDir(host.Path("/dev/disk/by-partuuid"))
	if err != nil {
		return nil
	}
	var found []uuid.UUID
	for _, link := range list {
		if id, err := uuid.Parse(link.Name()); err == nil {
			found = append(found, id)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return append(found, own)
}
