package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	"modernc.org/sqlite" // and the driver of that name
	sqlite3 "modernc.org/sqlite/lib"
)

// Busy reports whether the error means that somebody else held the database for
// longer than is waited for; the same work may succeed later.
func Busy(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return false
	}
	primary := e.Code() & 0xff // the rest is the extended code
	return primary == sqlite3.SQLITE_BUSY || primary == sqlite3.SQLITE_LOCKED
}

// readers is how many reading connections SQLite gets; WAL lets them read while
// the one writer writes.
const readers = 8

// OpenSQLite opens the database file, makes it when it is not there, and brings
// its tables up to date. Only one process may have it open for writing.
func OpenSQLite(ctx context.Context, path string) (Store, error) {
	write, err := openSQLite(path, 1, "immediate")
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, write); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), write.Close())
	}
	read, err := openSQLite(path, readers, "deferred")
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return &sqlStore{read: read, write: write}, nil
}

// openSQLite opens a pool. synchronous=NORMAL with WAL survives the death of
// the process; after a power failure the last moments may be missing, which the
// hosts' next polls repair.
func openSQLite(path string, connections int, lock string) (*sql.DB, error) {
	q := url.Values{"_txlock": {lock}, "_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(NORMAL)", "foreign_keys(ON)",
	}}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
