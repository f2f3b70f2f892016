package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// channel is PostgreSQL's name for the announcements of changes.
	channel = "ironflow_hub"
	// maxPayload bounds one announcement, in bytes; PostgreSQL takes less than 8000.
	maxPayload = 7000
	// quietTime is how long nothing may come before the connection is tried.
	quietTime = 30 * time.Second
	// The pause before a lost connection is made again grows up to the second.
	firstPause, longestPause = 50 * time.Millisecond, 5 * time.Second
)

// notify announces changes with the transaction: they are delivered once it is
// committed, to every program that listens.
func notify(t *tx, changes []Change) error {
	for len(changes) > 0 {
		payload, n, err := pack(changes)
		if err != nil {
			return err
		}
		if err := t.exec("announce", `SELECT pg_notify($1, $2)`, channel, payload); err != nil {
			return err
		}
		changes = changes[n:]
	}
	return nil
}

// pack encodes as many of the changes as fit into one announcement, at least one.
func pack(changes []Change) (payload string, n int, err error) {
	for n = len(changes); ; n = (n + 1) / 2 {
		raw, err := json.Marshal(changes[:n])
		if err != nil || len(raw) <= maxPayload || n == 1 {
			return string(raw), n, err
		}
	}
}

// listener hears what all programs announce.
type listener struct {
	connect func(context.Context) (*pgx.Conn, error)
	tell    func([]Change)
}

// run hands announcements on until ctx ends. Nobody knows what is announced while
// the connection is lost, so that is said all the time and once it is back.
func (l *listener) run(ctx context.Context, conn *pgx.Conn) {
	for {
		l.follow(ctx, conn)
		if conn = l.again(ctx); conn == nil {
			return
		}
		l.missed()
	}
}

// missed says that announcements may have been missed.
func (l *listener) missed() { l.tell([]Change{{What: ChangedAll}}) }

// listen makes a connection that announcements come to.
func (l *listener) listen(ctx context.Context) (*pgx.Conn, error) {
	conn, err := l.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
		_ = conn.Close(ctx) // the first error says why
		return nil, fmt.Errorf("listen for changes: %w", err)
	}
	return conn, nil
}

// again makes a new connection, however long that takes; nil once ctx has ended.
func (l *listener) again(ctx context.Context) *pgx.Conn {
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		l.missed()
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if conn, err := l.listen(ctx); err == nil {
			return conn
		}
	}
}

// follow hands announcements on until the connection fails.
func (l *listener) follow(ctx context.Context, conn *pgx.Conn) {
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(end) // it is of no use any more
	}()
	for ctx.Err() == nil {
		wait, cancel := context.WithTimeout(ctx, quietTime)
		n, err := conn.WaitForNotification(wait)
		quiet := wait.Err() != nil
		cancel()
		switch {
		case err == nil:
			l.hear(n.Payload)
		case !quiet || conn.IsClosed() || l.dead(ctx, conn):
			return
		}
	}
}

// hear hands one announcement on. What cannot be read comes from a newer program.
func (l *listener) hear(payload string) {
	var changes []Change
	if json.Unmarshal([]byte(payload), &changes) != nil {
		changes = []Change{{What: ChangedAll}}
	}
	l.tell(changes)
}

// dead tries the connection.
func (l *listener) dead(ctx context.Context, conn *pgx.Conn) bool {
	try, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	return conn.Ping(try) != nil
}
