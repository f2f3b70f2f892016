package disks

import (
	"context"
	"sync"
	"time"

	"github.com/ironflow/ironflow/customdeploy/source"
)

const (
	// deviceWorkers is how many devices are asked at once.
	deviceWorkers = 16
	// deviceLimit bounds the questions to all devices together: a path to a lost
	// array may keep a read for minutes.
	deviceLimit = 3 * time.Second
)

// answer is what only the device itself can tell.
type answer struct{ bootable, hasUUID bool }

// devices asks devices. One that has not answered yet is not asked again: a read
// that the kernel holds cannot be given up.
type devices struct {
	mu      sync.Mutex
	pending map[string]bool
}

// ask fills in what the devices answer in time; whole is false when some did not.
func (d *devices) ask(ctx context.Context, m source.Machine, all []found) (whole bool) {
	ctx, cancel := context.WithTimeout(ctx, deviceLimit)
	defer cancel()
	type result struct {
		index int
		answer
	}
	results := make(chan result, len(all)) // a late answer must not block for ever
	slots := make(chan struct{}, deviceWorkers)
	asked := 0
	for i, f := range all {
		name := f.disk.Name
		if !d.begin(name) {
			continue
		}
		asked++
		go func() {
			defer d.end(name)
			select {
			case slots <- struct{}{}:
				defer func() { <-slots }()
			case <-ctx.Done():
				return
			}
			results <- result{i, answer{bootable: bootable(m, name), hasUUID: hasUUID(m, name)}}
		}()
	}
	for range asked {
		select {
		case r := <-results:
			all[r.index].disk.Bootable, all[r.index].disk.HasUUID = r.bootable, r.hasUUID
		case <-ctx.Done():
			return false
		}
	}
	return asked == len(all)
}

func (d *devices) begin(name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.pending[name] {
		return false
	}
	if d.pending == nil {
		d.pending = map[string]bool{}
	}
	d.pending[name] = true
	return true
}

func (d *devices) end(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.pending, name)
}

// bootable looks for the boot sector's signature.
func bootable(m source.Machine, name string) bool {
	raw, err := m.Head(sector, devDir+name)
	return err == nil && len(raw) == sector && raw[sector-2] == 0x55 && raw[sector-1] == 0xaa
}
