package efiboot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/ironflow/ironflow/customdeploy/blockdev"
)

// sector is the unit of sizes in sysfs and in udev's database, whatever the disk's is.
const sector = 512

// udevStart is where udev keeps the start of a partition.
const udevStart = "ID_PART_ENTRY_OFFSET"

// place is the partition as firmware has it, in blocks of the disk.
func (f *Firmware) place(p blockdev.Partition, id uuid.UUID, disk string) (hardDrive, error) {
	number, err := p.Number(f.Host)
	if err != nil {
		return hardDrive{}, err
	}
	block, err := f.kernel(disk, "queue/logical_block_size")
	if err != nil {
		return hardDrive{}, err
	}
	start, err := f.start(p)
	if err != nil {
		return hardDrive{}, err
	}
	size, err := f.kernel(p.Path, "size")
	if err != nil {
		return hardDrive{}, err
	}
	per := max(block/sector, 1)
	return hardDrive{number: uint32(number), start: start / per, size: size / per, partition: id}, nil
}

// start is where the partition begins on its disk. The kernel does not say it of a
// partition of a mapped disk, such as a multipath disk, which is a device of its own;
// udev has read the table.
func (f *Firmware) start(p blockdev.Partition) (uint64, error) {
	start, err := f.kernel(p.Path, "start")
	if !errors.Is(err, fs.ErrNotExist) {
		return start, err
	}
	known, err := blockdev.Properties(f.Host, blockdev.KernelName(f.Host, p.Path))
	if err != nil { // its text only: udev may know it soon
		return 0, fmt.Errorf("start of %s: the kernel does not say it, and udev: %s", p.Path, err.Error())
	}
	start, err = strconv.ParseUint(known[udevStart], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("start of %s: the kernel does not say it, and udev has %s=%q", p.Path, udevStart, known[udevStart])
	}
	return start, nil
}

// kernel is a number that the kernel knows of a block device.
func (f *Firmware) kernel(device, name string) (uint64, error) {
	raw, err := os.ReadFile(f.Host.Path(filepath.Join("/sys/class/block", blockdev.KernelName(f.Host, device), name)))
	if err != nil {
		return 0, fmt.Errorf("%s of %s: %w", name, device, err)
	}
	value, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%s of %s: the kernel says %q", name, device, raw)
	}
	return value, nil
}
