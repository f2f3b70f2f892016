package store

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// passing are the classes of PostgreSQL's errors that are about the server's or
// the connection's state and not about the statement: connection, a server that is
// a standby (for now), a transaction that took too long, authorization (a password
// that is being changed), rolled back, out of resources, stopped by an operator or
// a timeout, system.
var passing = []string{"08", "25006", "25P03", "25P04", "28", "40", "53", "55", "57", "58"}

// Unavailable reports whether the error means that the database cannot be used
// at the moment: it is away, locked, or overloaded. The same work may succeed later.
func Unavailable(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return slices.Contains([]int{sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL}, e.Code()&0xff) // the rest is the extended code
	}
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		return slices.ContainsFunc(passing, func(class string) bool { return strings.HasPrefix(e.Code, class) })
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	// A server that vanishes ends the conversation without a word.
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, ErrConflict)
}
