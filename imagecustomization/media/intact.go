package media

import (
	"sync/atomic"
	"time"
)

// lookEvery is how often a file's state is asked for at most: a BMC reads
// thousands of ranges.
const lookEvery = time.Second

// witness remembers whether an open file is still as it was registered.
type witness struct {
	looked  atomic.Int64 // Unix nanoseconds
	spoiled atomic.Bool
}

// Intact tells whether the file still holds the bytes that were registered, as
// far as its size and time tell. One that was renamed, unlinked or replaced by
// another does: it stays open. One that was written in place never does again,
// and nothing of it may be sent.
func (m *Medium) Intact() bool {
	now, looked := time.Now().UnixNano(), m.witness.looked.Load()
	if now-looked >= int64(lookEvery) && m.witness.looked.CompareAndSwap(looked, now) {
		if now, err := stampOf(m.file); err != nil || now != m.was {
			m.witness.spoiled.Store(true)
		}
	}
	return !m.witness.spoiled.Load()
}
