package store

import (
	"context"
	"database/sql"
	"fmt"

	"golang.org/x/sync/semaphore"
)

// pool has the connections to a database, for one transaction each. They are given to those who
// wait in the order in which they came: [sql.DB] takes any of them, so that, of 10,000 hosts that
// boot together, some would wait longer than their patience (`make bench-hub`).
type pool struct {
	*sql.DB
	turns *semaphore.Weighted
	// statements are those that are compiled; nil where the driver keeps them itself.
	statements *statements
}

// newPool limits the database to so many connections.
func newPool(db *sql.DB, connections int) *pool {
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &pool{DB: db, turns: semaphore.NewWeighted(int64(connections))}
}

// beside are connections that no transaction takes: one on which statements are compiled while all others may be in use, and
// one that looks whether another program has changed the file.
const beside = 2

// compiling has the pool compile statements once for each of its connections.
func (p *pool) compiling(connections int) *pool {
	p.SetMaxOpenConns(connections + beside)
	p.SetMaxIdleConns(connections + beside)
	p.statements = &statements{}
	return p
}

// Close ends all connections.
func (p *pool) Close() error {
	if p.statements != nil {
		p.statements.close()
	}
	return p.DB.Close()
}

// begin starts a transaction. The connection is somebody else's once done was called, which comes
// after the transaction's end.
func (p *pool) begin(ctx context.Context, opts *sql.TxOptions) (_ *sql.Tx, done func(), err error) {
	if err := p.turns.Acquire(ctx, 1); err != nil {
		return nil, nil, fmt.Errorf("wait for a connection: %w", err)
	}
	begun, err := p.BeginTx(ctx, opts)
	if err != nil {
		p.turns.Release(1)
		return nil, nil, err
	}
	return begun, func() { p.turns.Release(1) }, nil
}
