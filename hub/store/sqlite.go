package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"

	_ "modernc.org/sqlite" // the driver of that name
)

// readers is how many reading connections SQLite gets; WAL lets them read while
// the one writer writes.
const readers = 8

// OpenSQLite opens the database file, makes it when it is not there, and brings
// its tables up to date. Only one process may have it open for writing, so whatever
// an earlier one held is free.
func OpenSQLite(ctx context.Context, path string) (Store, error) {
	write, err := openSQLite(path, 1, "immediate")
	if err != nil {
		return nil, err
	}
	s := &sqlStore{write: write, dialect: sqliteDialect()}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), write.Close())
	}
	if err := s.inTx(ctx, write, nil, leaveNobody); err != nil {
		return nil, errors.Join(fmt.Errorf("database %s: %w", path, err), write.Close())
	}
	if s.read, err = openSQLite(path, readers, "deferred"); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	return s, nil
}

func sqliteDialect() *dialect {
	return &dialect{name: "sqlite", reading: sql.TxOptions{ReadOnly: true}}
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
