package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/ironflow/ironflow/hub/seal"
)

// dialect is what differs between the databases.
type dialect struct {
	name string
	// share ends a SELECT that keeps others from changing the row until the commit.
	share string
	// lock is run before the tables are brought up to date; empty for none.
	lock string
	// numbers stands in an INSERT that brings the number of an event with it.
	numbers string
	// counter goes on counting events after the highest number; empty where the database does so by itself.
	counter string
	// reading are the options of a transaction that sees one state.
	reading sql.TxOptions
	// scrub has nothing left of what rows were before.
	scrub func(context.Context, *sql.DB) error
	// announce sends the changes with the transaction; nil where it is done behind it.
	announce func(*tx, []Change) error
}

// sqlStore is a store over one or two connection pools of the same database.
type sqlStore struct {
	read, write *pool
	dialect     *dialect
	watchers    watchers
	// log is SQLite's log of changes; nil for others.
	log *walLog
	// stop ends what runs beside the pools; it may be nil.
	stop func()
}

var _ Store = (*sqlStore)(nil)

func (s *sqlStore) View(ctx context.Context, f func(*Reader) error) error {
	return s.inTx(ctx, s.read, &s.dialect.reading, func(t *tx) error { return f(t.compiledBy(s.read)) })
}

func (s *sqlStore) Commit(ctx context.Context, u *Unit) error {
	if u.Empty() {
		return nil
	}
	operations, err := u.operations()
	if err != nil {
		return fmt.Errorf("store: encode: %w", err)
	}
	err = s.inTx(ctx, s.write, nil, func(t *tx) error {
		t.compiledBy(s.write)
		for _, o := range operations {
			if err := o.do(t); err != nil {
				return err
			}
		}
		for _, e := range u.Events {
			if err := t.addEvent(e); err != nil {
				return err
			}
		}
		for _, f := range u.Files {
			if err := t.putClusterFile(f); err != nil {
				return err
			}
		}
		if err := t.writeCheckIns(u.CheckIns); err != nil {
			return err
		}
		if s.dialect.announce == nil {
			return nil
		}
		return s.dialect.announce(t, u.Changes)
	})
	if err != nil {
		return err
	}
	for _, o := range operations {
		if o.stored != nil {
			o.stored()
		}
	}
	if s.dialect.announce == nil {
		s.watchers.tell(u.Changes)
	}
	if s.log != nil {
		s.log.shrink(ctx, s.write)
	}
	return nil
}

// prunePage is how many events are removed at once: on SQLite all others wait for it, and
// PostgreSQL ends what takes too long.
const prunePage = 1000

func (s *sqlStore) Prune(ctx context.Context, then time.Time) error {
	for {
		var removed int64
		err := s.inTx(ctx, s.write, nil, func(t *tx) error {
			result, err := t.q.ExecContext(t.ctx, `DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < $1 ORDER BY at LIMIT $2)`, unix(then), prunePage)
			if err == nil {
				removed, err = result.RowsAffected()
			}
			if err != nil {
				return fmt.Errorf("store: remove old events: %w", err)
			}
			return nil
		})
		if err != nil || removed < prunePage {
			return err
		}
	}
}

func (s *sqlStore) Scrub(ctx context.Context) error {
	if err := s.write.turns.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("store: wait for a connection: %w", err)
	}
	defer s.write.turns.Release(1)
	if err := s.dialect.scrub(ctx, s.write.DB); err != nil {
		return fmt.Errorf("store: remove what the records were before; VACUUM the database yourself: %w", err)
	}
	return nil
}

func (s *sqlStore) Watch(f func([]Change)) func() { return s.watchers.add(f) }

func (s *sqlStore) Close() error {
	if s.stop != nil {
		defer s.stop()
	}
	if s.read == s.write {
		return s.write.Close()
	}
	var failure error
	if s.log != nil {
		failure = s.log.conn.Close()
	}
	return errors.Join(failure, s.read.Close(), s.write.Close())
}

func (s *sqlStore) inTx(ctx context.Context, p *pool, opts *sql.TxOptions, f func(*tx) error) error {
	begun, done, err := p.begin(ctx, opts)
	if err != nil {
		return fmt.Errorf("store: begin: %w", err)
	}
	defer done()
	if err := f(&tx{Reader{ctx: ctx, q: begun, dialect: s.dialect}}); err != nil {
		return errors.Join(err, ignoreDone(begun.Rollback()))
	}
	if err := begun.Commit(); err != nil {
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

// Reader reads the records. It is for one goroutine.
type Reader struct {
	ctx     context.Context
	q       *sql.Tx
	dialect *dialect
	keys    seal.Keys // of [Sealed]; none leaves records as they are
	// compiled has the statements; nil where none are kept.
	compiled *pool
}

// compiledBy takes statements from those that the pool keeps. Tables that the transaction itself makes have none.
func (r *Reader) compiledBy(p *pool) *Reader {
	if p.statements != nil {
		r.compiled = p
	}
	return r
}

func (r *Reader) statement(text string) *sql.Stmt {
	if r.compiled == nil {
		return nil
	}
	if s := r.compiled.statements.of(r.ctx, r.compiled.DB, text); s != nil {
		return r.q.StmtContext(r.ctx, s)
	}
	return nil
}

func (r *Reader) query(text string, args []any) (*sql.Rows, error) {
	if s := r.statement(text); s != nil { //nolint:sqlclosecheck // the end of the transaction closes it
		return s.QueryContext(r.ctx, args...)
	}
	return r.q.QueryContext(r.ctx, text, args...)
}

// tx is a transaction that writes.
type tx struct{ Reader }

func (t *tx) run(text string, args []any) (sql.Result, error) {
	if s := t.statement(text); s != nil { //nolint:sqlclosecheck // the end of the transaction closes it
		return s.ExecContext(t.ctx, args...)
	}
	return t.q.ExecContext(t.ctx, text, args...)
}

func (t *tx) exec(what, query string, args ...any) error {
	if _, err := t.run(query, args); err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	return nil
}

// change runs a statement that has to affect one row; otherwise somebody else
// was faster, which is [ErrConflict].
func (t *tx) change(what, query string, args ...any) error {
	result, err := t.run(query, args)
	if err != nil {
		return fmt.Errorf("store: %s: %w", what, err)
	}
	if n, err := result.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("store: %s: %w", what, errors.Join(ErrConflict, err))
	}
	return nil
}

var tables = map[Kind]string{KindInfraEnv: "infra_envs", KindCluster: "clusters", KindHost: "hosts", KindJob: "jobs", KindLease: "leases"}

// check makes sure that the record still has the version, and keeps it so until the commit.
func (t *tx) check(r Ref) error {
	name := "id"
	if r.Kind == KindLease {
		name = "name"
	}
	query, args := `SELECT version FROM `+tables[r.Kind]+` WHERE `+name+` = $1`, []any{r.ID}
	if r.Kind == KindHost {
		query, args = query+` AND infra_env_id = $2`, append(args, r.InfraEnvID)
	}
	var have int64
	if err := t.scanRow("version", query+t.dialect.share, args, &have); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if have != r.Version {
		return fmt.Errorf("store: %s of %s: %w", tables[r.Kind], r.ID, ErrConflict)
	}
	return nil
}

func (t *tx) remove(r Ref) error {
	switch r.Kind {
	case KindInfraEnv:
		return t.removeInfraEnv(r)
	case KindHost:
		return t.removeHost(r)
	case KindJob:
		return t.change("remove job", `DELETE FROM jobs WHERE id = $1 AND version = $2`, r.ID, r.Version)
	case KindLease:
		return t.change("remove lease", `DELETE FROM leases WHERE name = $1 AND version = $2`, r.ID, r.Version)
	case KindCluster:
	}
	return t.removeCluster(r)
}

// scanRow reads one row; no row is [ErrNotFound].
func (r *Reader) scanRow(what, query string, args []any, into ...any) error {
	found := false
	err := r.scanAll(what, query, args, func(scan func(...any) error) error {
		if found {
			return nil
		}
		found = true
		return scan(into...)
	})
	if err == nil && !found {
		return fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return err
}

// scanAll calls each for every row; each reads it with the given scan function.
func (r *Reader) scanAll(what, query string, args []any, each func(scan func(...any) error) error) error {
	rows, err := r.query(query, args)
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

// all reads every row; of a list that cannot be read to its end, nothing is returned, so
// that nobody takes the part before the error for the list, or meets the nil at its end.
func all[T any](r *Reader, what, query string, args []any, read func(scan func(...any) error) (T, error)) ([]T, error) {
	var out []T
	err := r.scanAll(what, query, args, func(scan func(...any) error) error {
		v, err := read(scan)
		out = append(out, v)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// one reads the only row, or returns [ErrNotFound].
func one[T any](r *Reader, what, query string, args []any, read func(scan func(...any) error) (T, error)) (T, error) {
	found, err := all(r, what, query, args, read)
	var none T
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return found[0], nil
}
