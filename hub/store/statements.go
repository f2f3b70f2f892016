package store

import (
	"context"
	"database/sql"
	"sync"
)

const (
	// longestStatement is the longest text that is kept, in bytes: longer ones have a value for each of many records,
	// and are seldom asked twice.
	longestStatement = 2 << 10
	// mostStatements bounds how many are kept.
	mostStatements = 256
)

// statements are compiled once for each connection to SQLite: its driver compiles a text with each call otherwise, for
// which a host that boots takes a tenth of its time. The zero value is ready.
type statements struct {
	mu  sync.Mutex
	all map[string]*sql.Stmt
}

// of returns the statement for the text; nil where it is not kept. It takes a connection of its own for a moment.
func (s *statements) of(ctx context.Context, db *sql.DB, text string) *sql.Stmt {
	if len(text) > longestStatement {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if found := s.all[text]; found != nil {
		return found
	}
	if len(s.all) >= mostStatements {
		return nil
	}
	made, err := db.PrepareContext(ctx, text) //nolint:sqlclosecheck // it stays until the pool is closed
	if err != nil {
		return nil // without it, the same call says what is wrong
	}
	if s.all == nil {
		s.all = map[string]*sql.Stmt{}
	}
	s.all[text] = made
	return made
}

// close ends all of them.
func (s *statements) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.all {
		_ = one.Close() // the connections go, too
	}
	s.all = nil
}
