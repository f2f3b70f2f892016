// Package espdisk makes disks with a real EFI system partition, and attaches them as loop
// devices whose partitions the real udev knows. A kernel without FAT runs such tests in a
// guest: see [Run].
package espdisk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ironflow/ironflow/test/guest"
	"github.com/ironflow/ironflow/test/needs"
)

const (
	// Offset is where the partition lies, the first one of the disk.
	Offset = 1 << 20
	// Bytes is how large it is.
	Bytes = 16 << 20
	// DiskBytes is the size of the disk.
	DiskBytes = 18 << 20
	// Loader is a file of the partition that firmware starts.
	Loader = "EFI/BOOT/BOOTX64.EFI"
	// label is the partition's table.
	label = "label: gpt\nstart=%d, size=%d, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B\n"
	// inGuest tells that nothing else runs on this machine.
	inGuest = "IRONFLOW_TEST_IN_GUEST"
)

// Has tells whether this kernel has FAT.
func Has() bool {
	raw, err := os.ReadFile("/proc/filesystems")
	return err == nil && strings.Contains(string(raw), "\tvfat\n")
}

// Run runs a test of the calling binary, and what is below it, in a guest with Debian's kernel,
// and returns what it printed. The test binary has to be able to be the guest's first process.
func Run(t *testing.T, test string, memoryMiB int) string {
	t.Helper()
	guest.Need(t)
	programs(t)
	console, err := guest.Guest{
		Args: []string{"-test.run=^" + test + "$", "-test.v"}, Env: []string{inGuest + "=1"}, Files: true, MemoryMiB: memoryMiB, Console: t.Output(),
	}.Run(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, console)
	}
	return console
}

func programs(t *testing.T) {
	t.Helper()
	for program, debian := range map[string]string{
		"mkfs.vfat": "dosfstools", "fsck.vfat": "dosfstools", "sfdisk": "fdisk", "mcopy": "mtools", "udevadm": "udev", "losetup": "mount",
	} {
		needs.Program(t, program, debian)
	}
}

// Need skips the test where no such disk can be used; inAGuest is the test that runs it elsewhere.
// In a guest, it starts udev.
func Need(t *testing.T, inAGuest string) {
	t.Helper()
	if !Has() {
		t.Skipf("this kernel has no FAT: %s runs this in a guest", inAGuest)
	}
	needs.Root(t)
	programs(t)
	if _, err := os.Stat("/run/udev/control"); err == nil {
		return
	}
	if os.Getenv(inGuest) == "" {
		t.Skip("no udev runs on this computer, which lsblk asks for the types of partitions")
	}
	output(t, "/lib/systemd/systemd-udevd", "--daemon")
}

// Content is that of a disk on whose partition is nothing but the loader.
func Content(t *testing.T, loader []byte) []byte {
	t.Helper()
	folder := t.TempDir()
	partition, program, disk := filepath.Join(folder, "esp"), filepath.Join(folder, "loader"), filepath.Join(folder, "disk")
	must(t, os.WriteFile(program, loader, 0o600))
	output(t, "mkfs.vfat", "-F", "16", "-n", "EFI-SYSTEM", "-C", partition, fmt.Sprint(Bytes>>10))
	output(t, "mmd", "-i", partition, "::EFI", "::EFI/BOOT")
	output(t, "mcopy", "-i", partition, program, "::"+Loader)
	must(t, os.WriteFile(disk, nil, 0o600))
	must(t, os.Truncate(disk, DiskBytes))
	table := exec.CommandContext(t.Context(), "sfdisk", "--quiet", disk)
	table.Stdin = strings.NewReader(fmt.Sprintf(label, Offset/512, Bytes/512))
	if out, err := table.CombinedOutput(); err != nil {
		t.Fatalf("sfdisk: %v: %s", err, out)
	}
	content, err := os.ReadFile(disk)
	must(t, err)
	raw, err := os.ReadFile(partition)
	must(t, err)
	copy(content[Offset:], raw)
	return content
}

// Attach makes the content a disk of this computer: /dev/loopN, with the partition /dev/loopNp1.
// What it returns takes it away again, at the latest with the test.
func Attach(t *testing.T, content []byte, flags ...string) (device string, detach func()) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "disk")
	must(t, os.WriteFile(file, content, 0o600))
	device = output(t, "losetup", slices.Concat([]string{"--find", "--show", "--partscan"}, flags, []string{file})...)
	gone := false
	detach = func() {
		if !gone {
			gone = true
			_ = os.Remove(file) // the folder goes with the test
			if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), "losetup", "--detach", device).CombinedOutput(); err != nil {
				t.Errorf("losetup: %v: %s", err, out)
			}
		}
	}
	t.Cleanup(detach)
	Settle(t)
	return device, detach
}

// Settle waits until udev knows the partitions of all disks.
func Settle(t *testing.T) {
	t.Helper()
	output(t, "udevadm", "settle")
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
