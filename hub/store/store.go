package store

import (
	"context"
	"errors"
	"time"
)

// ErrNotFound tells that there is no such record.
var ErrNotFound = errors.New("not found")

// ErrConflict tells that a record has changed since the unit's work read it.
// Doing the whole work again may succeed.
var ErrConflict = errors.New("the record was changed by somebody else")

// Store keeps the records. All methods are safe for concurrent use.
type Store interface {
	// View runs f over one state of all records. The reader is valid only within
	// the call. f must do nothing slow: it holds a connection.
	View(ctx context.Context, f func(*Reader) error) error
	// Commit stores the unit as a whole, or nothing of it. It returns [ErrConflict]
	// when a record has another version than the unit says. Once stored, the
	// unit's records have their new versions, and its changes are announced.
	Commit(ctx context.Context, u *Unit) error
	// Prune removes the events that happened before then.
	Prune(ctx context.Context, then time.Time) error
	// Scrub has nothing left in the tables of what records were before. It takes as long
	// as to write them all, and is for once after something was sealed that had been plain.
	Scrub(ctx context.Context) error
	// Watch hands every stored change to f, also those of other programs, until
	// the returned function is called. f must not block. Where changes may have
	// been missed, f gets a change with [ChangedAll].
	Watch(f func([]Change)) (stop func())
	// Close ends all work.
	Close() error
}
