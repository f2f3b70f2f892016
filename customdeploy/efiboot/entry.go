package efiboot

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/blockdev"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

const (
	espMount = hostfile.RunDir + "/esp"

	efiTries = 6
	efiPause = 5 * time.Second
)

// loaders are the boot loaders that are looked for on the ESP, the vendors'
// own before the fall-back that firmware tries by itself.
var loaders = []string{
	"EFI/redhat/shimx64.efi", "EFI/redhat/shimaa64.efi",
	"EFI/fedora/shimx64.efi", "EFI/fedora/shimaa64.efi",
	"EFI/centos/shimx64.efi", "EFI/centos/shimaa64.efi",
}

var fallbacks = []string{"EFI/BOOT/BOOTX64.EFI", "EFI/BOOT/BOOTAA64.EFI"}

// bootedByUEFI tells whether there is a firmware with a boot menu.
func bootedByUEFI(host hostfile.Dir) bool {
	_, err := os.Stat(host.Path("/sys/firmware/efi"))
	return err == nil
}

// Firmware is the boot menu of one host.
type Firmware struct {
	// Exec runs commands in the root of Host.
	Exec hostexec.Exec
	Host hostfile.Dir
	// Label is the name of a new entry.
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
		if hostexec.Missing(err) {
			break // it will not appear
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

// addEntry makes or moves the entry; it returns the loader that it found.
func (f *Firmware) addEntry(ctx context.Context, disk string) (string, error) {
	esp, err := findESP(ctx, f.Exec, disk)
	if err != nil {
		return "", err
	}
	loader, err := f.findLoader(ctx, esp.Path)
	if err != nil {
		return "", err
	}
	menu, err := hostexec.Output(ctx, f.Exec, "efibootmgr", "-v")
	if err != nil {
		return loader, err
	}
	path := `\` + strings.ReplaceAll(loader, "/", `\`)
	if entry := findEntry(menu, esp.UUID, path); entry != "" {
		_, err = hostexec.Output(ctx, f.Exec, "efibootmgr", "--bootorder", strings.Join(firstInOrder(menu, entry), ","))
		return loader, err
	}
	number, err := esp.Number(f.Host)
	if err != nil {
		return loader, err
	}
	// A new entry is put first in the order by efibootmgr.
	_, err = hostexec.Output(ctx, f.Exec, "efibootmgr", "--create", "--disk", disk, "--part", strconv.Itoa(number), "--label", f.Label, "--loader", path)
	return loader, err
}

func findESP(ctx context.Context, run hostexec.Exec, disk string) (blockdev.Partition, error) {
	list, err := blockdev.Partitions(ctx, run, disk)
	if err != nil {
		return blockdev.Partition{}, err
	}
	if i := slices.IndexFunc(list, blockdev.Partition.IsESP); i >= 0 {
		return list[i], nil
	}
	return blockdev.Partition{}, fmt.Errorf("%s has no EFI system partition", disk)
}

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

func isFallback(loader string) bool { return slices.Contains(fallbacks, loader) }

// loadersOn mounts the ESP read-only and returns the loaders on it that are
// known, the vendors' own first.
func loadersOn(ctx context.Context, run hostexec.Exec, host hostfile.Dir, device string) (found []string, err error) {
	if err := os.MkdirAll(host.Path(espMount), 0o700); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(host.Path(espMount)) }()
	if _, err := hostexec.Output(ctx, run, "mount", "-o", "ro", device, espMount); err != nil {
		return nil, err
	}
	defer func() { _, _ = hostexec.Output(context.WithoutCancel(ctx), run, "umount", espMount) }()
	for _, loader := range slices.Concat(loaders, fallbacks) {
		if _, err := os.Stat(host.Path(filepath.Join(espMount, loader))); err == nil {
			found = append(found, loader)
		}
	}
	return found, nil
}

var (
	entryForm = regexp.MustCompile(`(?mi)^Boot([0-9A-F]{4})\*?\s+.*HD\(\d+,GPT,([0-9a-f-]+),.*?/(?:File\()?(\\[^)\s]*)\)?`)
	orderForm = regexp.MustCompile(`(?m)^BootOrder:\s*(\S*)`)
)

// findEntry returns the number of the entry with this partition and path.
// Labels do not count: other systems use the same ones.
func findEntry(menu, partUUID, path string) string {
	for _, m := range entryForm.FindAllStringSubmatch(menu, -1) {
		if strings.EqualFold(m[2], partUUID) && strings.EqualFold(m[3], path) {
			return m[1]
		}
	}
	return ""
}

// firstInOrder moves the entry to the front and keeps the others.
func firstInOrder(menu, entry string) []string {
	order := []string{entry}
	if m := orderForm.FindStringSubmatch(menu); m != nil {
		for number := range strings.SplitSeq(m[1], ",") {
			if number != "" && number != entry {
				order = append(order, number)
			}
		}
	}
	return order
}
