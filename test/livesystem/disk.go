package livesystem

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ironflow/ironflow/test/needs"
)

// Disk is what the machine's disk is like, and which machine it is.
type Disk struct {
	// Board is the serial number of the machine's board, its identity; empty means "SER-1".
	Board string
	// Bytes is its size; the backing file is sparse.
	Bytes int64
	// Dir is where the backing file lies; empty means a temporary folder.
	Dir string
	// Bad is a part that can be neither read nor written: device-mapper answers
	// with an input/output error there. See [NeedDeviceMapper].
	Bad Range
}

// Range is a part of a disk, in bytes and whole sectors; To is the first byte behind it.
type Range struct{ From, To int64 }

// NeedDeviceMapper skips the test where the kernel has no device-mapper. It says
// in which test a guest with Debian's kernel runs it instead.
func NeedDeviceMapper(t *testing.T, instead string) {
	t.Helper()
	if !HasDeviceMapper() {
		t.Skipf("this kernel has no device-mapper: %s runs this in a guest", instead)
	}
	needs.Program(t, "dmsetup", "dmsetup")
}

// HasDeviceMapper tells whether the kernel has device-mapper.
func HasDeviceMapper() bool {
	_, err := os.Stat("/sys/class/misc/device-mapper")
	return err == nil
}

// attach makes the disk and returns its name here, /dev/loopN. It goes with the test.
func (d Disk) attach(t *testing.T) string {
	t.Helper()
	needs.Program(t, "losetup", "mount")
	dir := d.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, "disk")
	must(t, os.WriteFile(file, nil, 0o600))
	must(t, os.Truncate(file, d.Bytes))
	if d.Bad == (Range{}) {
		return loop(t, "--partscan", file)
	}
	// The kernel looks for no partitions on a device of device-mapper, so a loop
	// device lies on top. Without a cache of its own it passes an error on at once.
	return loop(t, "--partscan", "--direct-io=on", d.mapped(t, loop(t, file)))
}

// loop attaches a loop device that goes with the test.
func loop(t *testing.T, args ...string) string {
	t.Helper()
	device := Output(t, "losetup", append([]string{"--find", "--show"}, args...)...)
	// Detached while it is open, it goes when it is closed: also when this process is killed.
	open, err := os.Open(device)
	must(t, err)
	t.Cleanup(func() { _ = open.Close() })
	Output(t, "losetup", "--detach", device)
	return device
}

// mapped lays a device over another one that is the same but for its bad part.
func (d Disk) mapped(t *testing.T, below string) string {
	t.Helper()
	const sector = 512
	from, to := d.Bad.From/sector, d.Bad.To/sector
	name := fmt.Sprintf("ironflow-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	table := fmt.Sprintf("0 %[2]d linear %[1]s 0\n%[2]d %[4]d error\n%[3]d %[5]d linear %[1]s %[3]d\n", below, from, to, to-from, d.Bytes/sector-to)
	Output(t, "dmsetup", "create", "--noudevsync", name, "--table", table)
	t.Cleanup(func() {
		// The test's context has ended; what is still open keeps the device, which harms nobody.
		_ = exec.CommandContext(context.WithoutCancel(t.Context()), "dmsetup", "remove", "--noudevsync", "--deferred", name).Run()
	})
	// Its link below /dev/mapper is udev's; the kernel's own name is always there.
	return "/dev/" + Output(t, "dmsetup", "info", "--columns", "--noheadings", "-o", "blkdevname", name)
}
