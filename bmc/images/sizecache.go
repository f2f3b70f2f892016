package images

import (
	"context"
	"net/http"
	"sync"
	"time"
)

const (
	// Turn bounds how long an image's turn and its server's answer take together: who
	// waits for a size waits no longer.
	Turn = 15 * time.Second
	// Keep is how long a size is held.
	Keep = 5 * time.Minute
	// Again is how long it is held that none is known.
	Again = time.Minute
	// mostKept bounds the images that are known or asked for, mostOfOne those of one look.
	mostKept, mostOfOne = 4096, 32
	// askers is how many images are asked for at a time, of all servers.
	askers = 32
)

// SizeCache holds the sizes of images, so that a fleet with one image asks its server once.
// Its methods may be called by many at once.
type SizeCache struct {
	client *http.Client
	now    func() time.Time

	mu      sync.Mutex
	turns   turns             // addresses of open entries
	entries map[string]*entry // by address
}

// entry is what is known of an image.
type entry struct {
	// size is in bytes; 0 is not known.
	size int64
	// open says that it is being asked for.
	open bool
	// until is when it is asked for again, or while it is open, how long anybody waits.
	until time.Time
	// waiting are told when it is not open any more, each once.
	waiting map[string]func()
}

// NewSizeCache makes an empty cache. Nothing is asked before [SizeCache.Start].
func NewSizeCache(c *http.Client, now func() time.Time) *SizeCache {
	return &SizeCache{client: c, now: now, turns: newTurns(mostKept), entries: map[string]*entry{}}
}

// Known is what a cache knows of some images.
type Known struct {
	// Sizes are those that are known, in bytes by address.
	Sizes map[string]int64
	// Open says that others are being asked for.
	Open bool
	// Missing says that others cannot be learned for now.
	Missing bool
}

// Look says what is known of images, and has their servers asked for what is not. It
// does not wait: while there is something open, told is called as soon as one of these
// images is known, or is known not to be; once for each who. After [Turn] nothing that
// is open now is open any more, told or not.
func (c *SizeCache) Look(addresses []string, who string, told func()) Known {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, now := Known{Sizes: map[string]int64{}, Missing: len(addresses) > mostOfOne}, c.now()
	for _, address := range addresses[:min(len(addresses), mostOfOne)] {
		switch p := c.entry(address, now); {
		case p != nil && p.open && now.Before(p.until):
			known.Open = true
			p.waiting[who] = told
		case p != nil && p.size > 0:
			known.Sizes[address] = p.size
		default:
			known.Missing = true
		}
	}
	return known
}

// entry is that of an image; a new one where there is none or it is old. Nil is for an
// image that nobody can be asked for, or not now.
func (c *SizeCache) entry(address string, now time.Time) *entry {
	p := c.entries[address]
	if p != nil && (p.open || now.Before(p.until)) {
		return p
	}
	server := serverOf(address)
	if server == "" || !c.room(address, now) {
		return nil
	}
	c.turns.add(server, address)
	c.entries[address] = &entry{open: true, until: now.Add(Turn), waiting: map[string]func(){}}
	return c.entries[address]
}

// room reports whether there is a entry left for the address, and makes room.
func (c *SizeCache) room(address string, now time.Time) bool {
	if c.entries[address] != nil || len(c.entries) < mostKept {
		return true
	}
	for other, p := range c.entries {
		if !p.open && !now.Before(p.until) {
			delete(c.entries, other)
		}
	}
	return len(c.entries) < mostKept
}

// Start asks for the sizes of images until ctx ends.
func (c *SizeCache) Start(ctx context.Context) error {
	var asking sync.WaitGroup
	for range askers {
		asking.Go(func() {
			for {
				select {
				case <-ctx.Done():
					return
				case server := <-c.turns.ready:
					c.ask(ctx, server)
				}
			}
		})
	}
	asking.Wait()
	return nil
}

// ask closes the entry of a server's next image. One whose turn came too late is not asked
// for any more.
func (c *SizeCache) ask(ctx context.Context, server string) {
	address, inTime := c.take(server)
	size := int64(0)
	if inTime {
		size = sizeOf(ctx, c.client, address)
	}
	for _, told := range c.close(server, address, size) {
		told()
	}
}

func (c *SizeCache) take(server string) (address string, inTime bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	address = c.turns.take(server)
	return address, c.now().Before(c.entries[address].until)
}

// close writes what was learned, and returns whom to tell.
func (c *SizeCache) close(server, address string, size int64) map[string]func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turns.done(server)
	p := c.entries[address]
	waiting, keep := p.waiting, Again
	if size > 0 {
		keep = Keep
	}
	*p = entry{size: size, until: c.now().Add(keep)}
	return waiting
}
