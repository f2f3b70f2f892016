package diskspeed

import (
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// The load: two writers side by side, each 22 MiB from the start of the disk in
// small blocks with a sync after each, the way etcd writes its log.
const (
	writers      = 2
	block        = 2300
	writtenBytes = 22 << 20
)

// writeSynced writes one writer's load and returns the 99th percentile of the times that the syncs took.
func writeSynced(ctx context.Context, device string) (time.Duration, error) {
	f, err := os.OpenFile(device, os.O_WRONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	data := make([]byte, block)
	times := make([]time.Duration, 0, writtenBytes/block)
	for i := range writtenBytes / block {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if _, err := f.WriteAt(data, int64(i)*block); err != nil {
			return 0, err
		}
		start := time.Now()
		if err := unix.Fdatasync(int(f.Fd())); err != nil {
			return 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times[len(times)*99/100], nil
}
