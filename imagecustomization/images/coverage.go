package images

import (
	"math/bits"
	"sync"
	"time"
)

// readPause is how long nobody reads an image before the next read begins anew: a
// machine that boots again reads all of it again.
const readPause = 5 * time.Minute

const (
	// minBlock is the finest granularity of coverage in bytes, maxBlocks the most
	// blocks that are kept per image (4 KiB of bits).
	minBlock  = 4 << 10
	maxBlocks = 1 << 15
)

// coverage remembers which parts of an image were read at least once, in blocks.
// A block counts as read when any byte of it was.
type coverage struct {
	mu     sync.Mutex
	size   int64
	shift  uint
	seen   []uint64
	blocks int64 // blocks read
	last   time.Time
}

func newCoverage(size int64) *coverage {
	c := &coverage{size: size, shift: uint(bits.TrailingZeros64(minBlock))}
	for size>>c.shift >= maxBlocks {
		c.shift++
	}
	return c
}

// add notes that n bytes at off were read and returns the bytes read so far,
// each counted once. After a pause what was read before does not count.
func (c *coverage) add(off, n int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil && n > 0 {
		c.seen = make([]uint64, (c.size>>c.shift)/64+1)
	}
	if n > 0 {
		now := time.Now()
		if now.Sub(c.last) > readPause {
			clear(c.seen)
			c.blocks = 0
		}
		c.last = now
		for b := off >> c.shift; b <= (off+n-1)>>c.shift; b++ {
			if word, bit := b/64, uint64(1)<<(b%64); c.seen[word]&bit == 0 {
				c.seen[word] |= bit
				c.blocks++
			}
		}
	}
	return min(c.blocks<<c.shift, c.size)
}

// bytes returns the bytes read so far.
func (c *coverage) bytes() int64 { return c.add(0, 0) }
