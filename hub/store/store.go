package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// ErrNotFound tells that there is no such record.
var ErrNotFound = errors.New("not found")

// Store gives transactions over the records. All methods are safe for
// concurrent use.
type Store interface {
	// View runs f in a transaction that sees one state of all records. f must not change any.
	View(ctx context.Context, f func(*Tx) error) error
	// Update runs f in a transaction that is kept only if f returns nil. f may
	// be run again after a conflict, so it must not have effects outside.
	Update(ctx context.Context, f func(*Tx) error) error
	// Close ends all work; open transactions are undone.
	Close() error
}

// Tx is one transaction. It is valid only within the call that it was given to,
// and for one goroutine.
type Tx struct {
	ctx context.Context
	q   querier
}

// querier is the part of database/sql that a transaction needs.
type querier interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// sqlStore is a store over one or two connection pools of the same database.
type sqlStore struct {
	read, write *sql.DB
}

var _ Store = (*sqlStore)(nil)

func (s *sqlStore) View(ctx context.Context, f func(*Tx) error) error {
	return inTx(ctx, s.read, &sql.TxOptions{ReadOnly: true}, f)
}

func (s *sqlStore) Update(ctx context.Context, f func(*Tx) error) error {
	return inTx(ctx, s.write, nil, f)
}

func (s *sqlStore) Close() error { return errors.Join(s.read.Close(), s.write.Close()) }

func inTx(ctx context.Context, db *sql.DB, opts *sql.TxOptions, f func(*Tx) error) error {
	tx, err := db.BeginTx(ctx, opts)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	if err := f(&Tx{ctx: ctx, q: tx}); err != nil {
		return errors.Join(err, ignoreDone(tx.Rollback()))
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("store: commit: %w", err)
	}
	return nil
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

func (t *Tx) exec(what, query string, args ...any) error {
	if _, err := t.q.ExecContext(t.ctx, query, args...); err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}

// scanRow reads one row; no row is [ErrNotFound].
func (t *Tx) scanRow(what, query string, args []any, into ...any) error {
	err := t.q.QueryRowContext(t.ctx, query, args...).Scan(into...)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	case err != nil:
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}

// scanAll calls each for every row; each reads it with the given scan function.
func (t *Tx) scanAll(what, query string, args []any, each func(scan func(...any) error) error) error {
	rows, err := t.q.QueryContext(t.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	defer func() { _ = rows.Close() }() // rows.Err tells what went wrong
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return fmt.Errorf("store: %s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}
