package disks

import (
	"sync"
	"time"

	"github.com/ironflow/ironflow/customdeploy/source"
)

const (
	// counter counts the kernel's reports of changed devices since the boot.
	counter = "/sys/kernel/uevent_seqnum"
	// settle is how long udev may need to write down what a report meant.
	settle = 10 * time.Second
	// keepLimit bounds how long a list is kept: not every property of a disk that
	// changes is reported.
	keepLimit = 5 * time.Minute
)

// kept holds the last list of disks until the kernel reports a change. It pays
// where a host sees thousands of paths to a storage array: see
// BenchmarkManyDisks.
type kept struct {
	mu      sync.Mutex
	count   string
	counted time.Time // when count was seen first
	taken   time.Time // when list was taken; zero: none
	list    []found
}

// get returns the kept list, or a new one.
func (k *kept) get(m source.Machine, look func() (list []found, whole bool, err error)) ([]found, error) {
	count, now := m.Line(counter), time.Now()
	k.mu.Lock()
	defer k.mu.Unlock()
	if count != k.count {
		k.count, k.counted, k.taken = count, now, time.Time{}
	}
	if count != "" && !k.taken.IsZero() && now.Sub(k.taken) < keepLimit {
		return k.list, nil
	}
	list, whole, err := look()
	if err != nil {
		return nil, err
	}
	if whole && now.Sub(k.counted) >= settle {
		k.list, k.taken = list, now
	}
	return list, nil
}
