package coreos

import (
	"context"
	"encoding/json"
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
)

const (
	espType  = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"
	espMount = hostfile.RunDir + "/esp"
	efiLabel = "CoreOS"

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

// partitionColumns are those that every lsblk of a CoreOS knows. The number of a
// partition (PARTN) is none of them: it came with util-linux 2.39.
const partitionColumns = "PATH,PARTTYPE,PARTUUID"

// partition is a row of lsblk's JSON.
type partition struct {
	Path     string `json:"path"`
	Type     string `json:"parttype"`
	UUID     string `json:"partuuid"`
	Children []partition
}

// number is the partition's place in its table, from the kernel.
func (p partition) number(host hostfile.Dir) (int, error) {
	raw, err := os.ReadFile(host.Path(filepath.Join("/sys/class/block", filepath.Base(p.Path), "partition")))
	if err != nil {
		return 0, fmt.Errorf("the number of partition %s: %w", p.Path, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the number of partition %s: the kernel says %q", p.Path, raw)
	}
	return n, nil
}

// bootedByUEFI tells whether there is a firmware with a boot menu.
func bootedByUEFI(host hostfile.Dir) bool {
	_, err := os.Stat(host.Path("/sys/firmware/efi"))
	return err == nil
}

// bootEntry puts the installed system first in the firmware's boot menu. It
// returns a warning when the firmware refuses but will find the disk's
// fall-back loader by itself.
func (s *Step) bootEntry(ctx context.Context, host hostfile.Dir, disk string) (warning string, err error) {
	if !bootedByUEFI(host) {
		return "", nil
	}
	var loader string
	for try := range efiTries {
		loader, err = s.addEntry(ctx, host, disk)
		if err == nil {
			return "", nil
		}
		if try < efiTries-1 {
			select { // the kernel still reads the new partitions, or the device is busy
			case <-time.After(efiPause):
			case <-ctx.Done():
				return "", context.Cause(ctx)
			}
		}
	}
	if isFallback(loader) || s.hasFallback {
		return fmt.Sprintf("no entry in the firmware's boot menu (%v); it must find %s by itself", err, "\\EFI\\BOOT"), nil
	}
	return "", fmt.Errorf("boot entry: %w", err)
}

// addEntry makes or moves the entry; it returns the loader that it found.
func (s *Step) addEntry(ctx context.Context, host hostfile.Dir, disk string) (string, error) {
	esp, err := findESP(ctx, s.Exec, disk)
	if err != nil {
		return "", err
	}
	loader, err := s.findLoader(ctx, host, esp.Path)
	if err != nil {
		return "", err
	}
	menu, err := output(ctx, s.Exec, "efibootmgr", "-v")
	if err != nil {
		return loader, err
	}
	path := `\` + strings.ReplaceAll(loader, "/", `\`)
	if entry := findEntry(menu, esp.UUID, path); entry != "" {
		_, err = output(ctx, s.Exec, "efibootmgr", "--bootorder", strings.Join(firstInOrder(menu, entry), ","))
		return loader, err
	}
	number, err := esp.number(host)
	if err != nil {
		return loader, err
	}
	// A new entry is put first in the order by efibootmgr.
	_, err = output(ctx, s.Exec, "efibootmgr", "--create", "--disk", disk, "--part", strconv.Itoa(number), "--label", efiLabel, "--loader", path)
	return loader, err
}

// partitions lists the disk's partitions.
func partitions(ctx context.Context, run Exec, disk string) ([]partition, error) {
	out, err := output(ctx, run, "lsblk", "--json", "--output", partitionColumns, disk)
	if err != nil {
		return nil, err
	}
	var table struct {
		Devices []partition `json:"blockdevices"`
	}
	if err := json.Unmarshal([]byte(out), &table); err != nil {
		return nil, fmt.Errorf("lsblk's answer: %w", err)
	}
	var list []partition
	for _, d := range table.Devices { // the disk with its partitions below, or all in a row
		list = append(append(list, d), d.Children...)
	}
	return list, nil
}

func isESP(p partition) bool { return strings.EqualFold(p.Type, espType) }

func findESP(ctx context.Context, run Exec, disk string) (partition, error) {
	list, err := partitions(ctx, run, disk)
	if err != nil {
		return partition{}, err
	}
	if i := slices.IndexFunc(list, isESP); i >= 0 {
		return list[i], nil
	}
	return partition{}, fmt.Errorf("%s has no EFI system partition", disk)
}

// findLoader looks for the best loader on the ESP.
func (s *Step) findLoader(ctx context.Context, host hostfile.Dir, device string) (string, error) {
	found, err := loadersOn(ctx, s.Exec, host, device)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", errors.New("the EFI system partition holds no boot loader")
	}
	s.hasFallback = s.hasFallback || slices.ContainsFunc(found, isFallback)
	return found[0], nil
}

func isFallback(loader string) bool { return slices.Contains(fallbacks, loader) }

// loadersOn mounts the ESP read-only and returns the loaders on it that are
// known, the vendors' own first.
func loadersOn(ctx context.Context, run Exec, host hostfile.Dir, device string) (found []string, err error) {
	if err := os.MkdirAll(host.Path(espMount), 0o700); err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(host.Path(espMount)) }()
	if _, err := output(ctx, run, "mount", "-o", "ro", device, espMount); err != nil {
		return nil, err
	}
	defer func() { _, _ = output(context.WithoutCancel(ctx), run, "umount", espMount) }()
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
