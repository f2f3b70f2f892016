package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"syscall"
	"time"

	_ "modernc.org/sqlite" // the driver of that name
)

// readers is how many reading connections SQLite gets; WAL lets them read while
// the one writer writes. They are more than the units of work that are under way at once,
// so that looks and polls do not wait for those.
const readers = 24

// OpenSQLite opens the database file, makes it when it is not there, and brings
// its tables up to date. One program at a time has it, and a second one is refused:
// changes are announced within the program. So whatever an earlier one held is free.
func OpenSQLite(ctx context.Context, path string) (Store, error) {
	owner, err := own(path)
	if err != nil {
		return nil, err
	}
	s, err := openTables(ctx, path)
	if err != nil {
		return nil, errors.Join(err, owner.Close())
	}
	s.stop = func() { _ = owner.Close() } // which ends the lock
	if err := s.inTx(ctx, s.write, nil, leaveNobody); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), s.Close())
	}
	return s, nil
}

// OpenSQLiteBeside opens the file for a program that works beside the one that has it:
// it may read all, and write events. What others have changed it is told within
// a second, as a [ChangedAll].
func OpenSQLiteBeside(ctx context.Context, path string) (Store, error) {
	s, err := openTables(ctx, path)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var watching sync.WaitGroup
	watching.Go(func() { s.watchFile(life) })
	s.stop = func() { cancel(); watching.Wait() }
	return s, nil
}

// openTables opens the file, with its tables up to date.
func openTables(ctx context.Context, path string) (*sqlStore, error) {
	write, err := openSQLite(path, 1, "immediate", busyTimeout)
	if err != nil {
		return nil, err
	}
	s := &sqlStore{write: write, dialect: sqliteDialect()}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), write.Close())
	}
	if s.read, err = openSQLite(path, readers, "deferred", busyTimeout); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	shrinks, err := openSQLite(path, 1, "immediate", emptyWaits)
	if err != nil {
		return nil, errors.Join(err, s.read.Close(), write.Close())
	}
	s.log = &walLog{path: path + "-wal", conn: shrinks}
	return s, nil
}

// own makes sure that no other program has the file, until what it returns is closed.
// The lock has a file of its own: SQLite's locks are on the database's.
func own(path string) (*os.File, error) {
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = errors.New("another program uses it: stop that first, or keep the records of several programs in PostgreSQL")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), lock.Close())
	}
	return lock, nil
}

// lookEvery is how often a program looks whether others have changed the file.
const lookEvery = time.Second

// watchFile tells that others have changed the file, until the context ends. The
// connection that asks writes nothing, so all changes are of others to it.
func (s *sqlStore) watchFile(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	var conn *sql.Conn
	known := int64(-1)
	for {
		version, err := fileVersion(ctx, s.read.DB, &conn)
		if err != nil || version != known {
			known = version
			s.watchers.tell([]Change{{What: ChangedAll}})
		}
		select {
		case <-ctx.Done():
			if conn != nil {
				_ = conn.Close() // it only read
			}
			return
		case <-ticker.C:
		}
	}
}

// fileVersion is a number that changes with the file, on the same connection.
func fileVersion(ctx context.Context, db *sql.DB, conn **sql.Conn) (version int64, err error) {
	if *conn == nil {
		if *conn, err = db.Conn(ctx); err != nil {
			*conn = nil
			return -1, err
		}
	}
	if err = (*conn).QueryRowContext(ctx, `PRAGMA data_version`).Scan(&version); err != nil {
		_ = (*conn).Close() // another one is taken the next time
		*conn = nil
		return -1, err
	}
	return version, nil
}

func sqliteDialect() *dialect {
	return &dialect{name: "sqlite", reading: sql.TxOptions{ReadOnly: true}, scrub: scrubFile}
}

// scrubFile writes the file anew, and empties the log of its changes. Where no temporary
// file can be made, such as in a container whose root is read-only, it is done in memory.
func scrubFile(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, `VACUUM`)
	if err != nil {
		_, err = db.ExecContext(ctx, `PRAGMA temp_store = MEMORY; VACUUM`)
	}
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`)
	return err
}

// busyTimeout is how long a connection waits for what another one holds, in milliseconds.
const busyTimeout = 10_000

// openSQLite opens a pool, whose connections wait so many milliseconds for others. synchronous=NORMAL with WAL survives
// the death of the process; after a power failure the last moments may be missing, which the
// hosts' next polls repair. The log of changes is emptied by [walLog] alone.
func openSQLite(path string, connections int, lock string, busy int) (*pool, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", busy), "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)", "wal_autocheckpoint(0)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	return newPool(db, connections).compiling(connections), nil
}
