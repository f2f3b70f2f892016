package store

import (
	"context"
	"os"
	"sync"
	"time"
)

const (
	// longestLog is how long SQLite's log of changes gets before it is emptied, in bytes.
	longestLog = 16 << 20
	// emptyAgain is the pause after a time at which it could not be: somebody reads for long.
	emptyAgain = time.Second
	// emptyWaits is how long whoever empties it waits for those who read, in milliseconds. Who writes waits, too.
	emptyWaits = 250
)

// walLog is the file with SQLite's log of changes. SQLite itself begins it anew only when nobody happens to read: with
// 10,000 hosts that boot together it grew to 590 MB (`make bench-hub CORES=1`), each page is looked for in all of it, and each
// commit tried once more to empty it, with the disk's two confirmations.
type walLog struct {
	path string
	// conn waits less for others than those of the pools.
	conn *pool

	mu    sync.Mutex
	tried time.Time
}

// shrink empties the log when it is long: all that is in it goes into the tables, and it begins anew.
func (l *walLog) shrink(ctx context.Context, write *pool) {
	if info, err := os.Stat(l.path); err != nil || info.Size() < longestLog || !l.mu.TryLock() {
		return
	}
	defer l.mu.Unlock()
	if time.Since(l.tried) < emptyAgain {
		return
	}
	if err := write.turns.Acquire(ctx, 1); err != nil {
		return // the next one does it
	}
	defer write.turns.Release(1)
	var busy, pages, moved int
	err := l.conn.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err != nil || busy != 0 {
		l.tried = time.Now()
	}
}
