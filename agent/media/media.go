// Package media tells whether the medium that the host was booted from can
// still be read. A BMC that loses its virtual medium leaves a live system that
// half works; hubs want to hear of it (exit code 256) rather than of the odd
// failures that follow.
package media

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ironflow/ironflow/api/hostfile"
)

// mountPoint is where a live system has its medium; it exists with a full ISO only.
const mountPoint = "/run/media/iso"

// dropped is how much of the start of the medium the kernel is to forget, in bytes.
const dropped = 64 << 10

// Check reads two bytes of the medium. A host without a mounted medium, or with
// one that is no device, passes.
func Check(dir hostfile.Dir, log *slog.Logger) error {
	if _, err := os.Stat(dir.Path(mountPoint)); err != nil {
		return nil // not booted from a full ISO
	}
	source := source(dir)
	if !strings.HasPrefix(source, "/dev/") {
		log.Warn("the boot medium is not checked: it is no device", "source", source)
		return nil
	}
	device, err := os.Open(dir.Path(source))
	if err != nil {
		return fmt.Errorf("the boot medium cannot be read any more; insert it again: %w", err)
	}
	defer device.Close()
	// A block that was read before would be answered from memory, long after the medium has gone.
	if err := unix.Fadvise(int(device.Fd()), 0, dropped, unix.FADV_DONTNEED); err != nil {
		log.Debug("the medium may be answered for from memory", "error", err)
	}
	if _, err := io.ReadFull(device, make([]byte, 2)); err != nil {
		return fmt.Errorf("the boot medium %s cannot be read any more; insert it again: %w", source, err)
	}
	return nil
}

// source is what is mounted exactly at the mount point, in the view of the
// host's first process; of several mounts the last one covers the others.
func source(dir hostfile.Dir) string {
	raw, err := os.ReadFile(dir.Path("/proc/1/mountinfo"))
	if err != nil {
		return ""
	}
	found := ""
	for line := range strings.Lines(string(raw)) {
		head, tail, ok := strings.Cut(line, " - ")
		left, right := strings.Fields(head), strings.Fields(tail)
		if ok && len(left) >= 5 && len(right) >= 2 && left[4] == mountPoint {
			found = right[1]
		}
	}
	return found
}
