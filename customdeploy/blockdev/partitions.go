package blockdev

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ironflow/ironflow/api/hostfile"
	"github.com/ironflow/ironflow/customdeploy/hostexec"
)

// espType is the GPT type of an EFI system partition.
const espType = "c12a7328-f81f-11d2-ba4b-00a0c93ec93b"

// PartitionColumns are those that every lsblk of a CoreOS knows. The number of a
// partition (PARTN) is none of them: it came with util-linux 2.39.
const PartitionColumns = "PATH,PARTTYPE,PARTUUID"

// Partition is a row of lsblk's JSON.
type Partition struct {
	Path     string `json:"path"`
	Type     string `json:"parttype"`
	UUID     string `json:"partuuid"`
	Children []Partition
}

// mapped is how the device mapper's name of a partition begins, such as that of a
// multipath disk: part2-mpath-3600508b4.
var mapped = regexp.MustCompile(`^part(\d+)-`)

// Number is the partition's place in its table, from the kernel, or for a partition
// of a mapped disk from the device mapper.
func (p Partition) Number(host hostfile.Dir) (int, error) {
	folder := host.Path(filepath.Join("/sys/class/block", KernelName(host, p.Path)))
	raw, err := os.ReadFile(filepath.Join(folder, "partition"))
	if errors.Is(err, fs.ErrNotExist) {
		id, _ := os.ReadFile(filepath.Join(folder, "dm/uuid")) // what is no mapped device has none
		if match := mapped.FindSubmatch(id); match != nil {
			raw, err = match[1], nil
		}
	}
	if err != nil {
		return 0, fmt.Errorf("the number of partition %s: %w", p.Path, err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the number of partition %s: the kernel says %q", p.Path, raw)
	}
	return n, nil
}

// Partitions lists the disk's partitions.
func Partitions(ctx context.Context, run hostexec.Exec, disk string) ([]Partition, error) {
	out, err := hostexec.Output(ctx, run, "lsblk", "--json", "--output", PartitionColumns, disk)
	if err != nil {
		return nil, err
	}
	rows, err := decode[Partition](out)
	if err != nil {
		return nil, err
	}
	var list []Partition
	for _, d := range rows { // the disk with its partitions below, or all in a row
		list = append(append(list, d), d.Children...)
	}
	return list, nil
}

// AllPartitions lists those of all disks of the host, each once: a disk with several paths has its
// partitions below each of them.
func AllPartitions(ctx context.Context, run hostexec.Exec) ([]Partition, error) {
	out, err := hostexec.Output(ctx, run, "lsblk", "--json", "--output", PartitionColumns)
	if err != nil {
		return nil, err
	}
	rows, err := decode[Partition](out)
	if err != nil {
		return nil, err
	}
	var list []Partition
	seen := map[string]bool{}
	var add func(rows []Partition)
	add = func(rows []Partition) {
		for _, p := range rows {
			if !seen[p.Path] {
				seen[p.Path] = true
				list = append(list, p)
			}
			add(p.Children)
		}
	}
	add(rows)
	return list, nil
}

// IsESP tells whether it is an EFI system partition.
func (p Partition) IsESP() bool { return strings.EqualFold(p.Type, espType) }
