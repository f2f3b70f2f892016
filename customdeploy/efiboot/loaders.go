package efiboot

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
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const espMount = hostfile.RunDir + "/esp"

// loaders are the boot loaders that are looked for on the ESP, the vendors'
// own before the fall-back that firmware tries by itself.
var loaders = []string{
	"EFI/redhat/shimx64.efi", "EFI/redhat/shimaa64.efi",
	"EFI/fedora/shimx64.efi", "EFI/fedora/shimaa64.efi",
	"EFI/centos/shimx64.efi", "EFI/centos/shimaa64.efi",
}

var fallbacks = []string{"EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/BOOTAA64.EFI"}

func isFallback(loader string) bool { return slices.Contains(fallbacks, loader) }

// inMenu is the path of a loader as the boot menu has it.
func inMenu(loader string) string { return `\` + strings.ReplaceAll(loader, "/", `\`) }

// isOurs tells whether an entry with this path is one that this package would make.
func isOurs(path string) bool {
	return slices.ContainsFunc(slices.Concat(loaders, fallbacks), func(l string) bool { return strings.EqualFold(inMenu(l), path) })
}

// ESP is the EFI system partition of a disk.
func ESP(ctx context.Context, run hostexec.Exec, disk string) (blockdev.Partition, error) {
	list, err := blockdev.Partitions(ctx, run, disk)
	if err != nil {
		return blockdev.Partition{}, err
	}
	if i := slices.IndexFunc(list, blockdev.Partition.IsESP); i >= 0 {
		return list[i], nil
	}
	return blockdev.Partition{}, fmt.Errorf("%s has no EFI system partition", disk)
}

// loadersOn mounts the ESP read-only and returns the loaders on it that are
// known, the vendors' own first.
func loadersOn(ctx context.Context, run hostexec.Exec, host hostfile.Dir, device string) (found []string, err error) {
	err = OnESP(ctx, run, host, device, "ro", func(folder string) error {
		for _, loader := range slices.Concat(loaders, fallbacks) {
			if _, err := os.Stat(filepath.Join(folder, loader)); err == nil {
				found = append(found, loader)
			}
		}
		return nil
	})
	return found, err
}

// OnESP mounts an EFI system partition with the option "ro" or "rw", and has it used at a folder,
// whose path is this process's.
func OnESP(ctx context.Context, run hostexec.Exec, host hostfile.Dir, device, option string, use func(folder string) error) (err error) {
	if err := os.MkdirAll(host.Path(espMount), 0o700); err != nil {
		return err
	}
	defer func() { _ = os.Remove(host.Path(espMount)) }()
	if _, err := hostexec.Output(ctx, run, "mount", "-o", option, device, espMount); err != nil {
		return err
	}
	defer func() {
		_, gone := hostexec.Output(context.WithoutCancel(ctx), run, "umount", espMount)
		if option != "ro" { // what was written is on the disk from then on
			err = errors.Join(err, gone)
		}
	}()
	return use(host.Path(espMount))
}
