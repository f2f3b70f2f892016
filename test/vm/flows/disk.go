package flows

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Where things that say what a disk holds lie, in bytes.
const (
	sector         = 512
	mbrMagic       = 510
	firstPartition = 1 << 20
	extMagic       = 1024 + 56
)

// UseDisk makes a disk look used: a partition table and an ext4 file system in
// the first partition. It needs sfdisk and mke2fs.
func UseDisk(ctx context.Context, path string) error {
	table := exec.CommandContext(ctx, "sfdisk", "--quiet", "--no-reread", "--no-tell-kernel", path)
	table.Stdin = strings.NewReader("label: gpt\nstart=2048, size=2097152, type=linux\ntype=linux\n")
	filesystem := exec.CommandContext(ctx, "mke2fs", "-q", "-F", "-t", "ext4", "-E", fmt.Sprintf("offset=%d", firstPartition), path, "1G")
	for _, command := range []*exec.Cmd{table, filesystem} {
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", command.Path, err, out)
		}
	}
	return nil
}

// Signatures names what a disk holds that a system would recognize: partition
// tables, and an ext file system in the first partition. Empty is an erased disk.
func Signatures(path string) ([]string, error) {
	disk, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer disk.Close()
	info, err := disk.Stat()
	if err != nil {
		return nil, err
	}
	var found []string
	var errs []error
	for _, s := range []struct {
		name  string
		at    int64
		bytes string
	}{
		{"MBR", mbrMagic, "\x55\xaa"},
		{"GPT", sector, "EFI PART"},
		{"second GPT", info.Size() - sector, "EFI PART"},
		{"ext file system", firstPartition + extMagic, "\x53\xef"},
		{"ext file system over the whole disk", extMagic, "\x53\xef"},
	} {
		there := make([]byte, len(s.bytes))
		_, err := disk.ReadAt(there, s.at)
		errs = append(errs, err)
		if bytes.Equal(there, []byte(s.bytes)) {
			found = append(found, s.name)
		}
	}
	return found, errors.Join(errs...)
}

// Linux writes what a member of a software RAID is 4 KiB behind the member's
// begin, which is near the begin of the disk here.
const (
	raidMagic = "\xfc\x4e\x2b\xa9"
	raidGrain = 4096
	raidScan  = 2 << 30
)

// RAIDMember says whether a part of the disk belongs to a software RAID.
func RAIDMember(path string) (bool, error) {
	disk, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer disk.Close()
	block := make([]byte, 1<<20)
	for at := int64(0); at < raidScan; at += int64(len(block)) {
		if _, err := disk.ReadAt(block, at); err != nil {
			return false, err
		}
		for i := 0; i < len(block); i += raidGrain {
			if bytes.HasPrefix(block[i:], []byte(raidMagic)) {
				return true, nil
			}
		}
	}
	return false, nil
}
