package store

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const (
	// connections is how many a replica of the hub has open at most, with the one that listens.
	connections = 20
	// idleFor and connectionAge bound the life of a connection, so that the replicas
	// follow a server that has moved.
	idleFor       = 5 * time.Minute
	connectionAge = 30 * time.Minute
	// connectTime bounds the making of a connection.
	connectTime = 5 * time.Second
)

// PostgresOptions say how PostgreSQL is reached.
type PostgresOptions struct {
	// URL is postgres://USER@HOST:PORT/DATABASE?sslmode=… without a password. Other
	// machines are reached by TLS with a certificate for their name
	// (sslmode=verify-full) unless the URL says otherwise.
	URL string
	// PasswordFile holds the password; it is read for each connection, so that it
	// may change. Without one, PGPASSWORD and PGPASSFILE count as they do for psql.
	PasswordFile string
}

// OpenPostgres opens the database and brings its tables up to date. Any number
// of programs may have it open.
func OpenPostgres(ctx context.Context, o PostgresOptions) (Store, error) {
	config, err := o.config()
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	name := fmt.Sprintf("database %s at %s", config.Database, config.Host)
	db := o.open(config, connections-1)
	s := &sqlStore{read: db, write: db, dialect: postgresDialect()}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), db.Close())
	}
	l := &listener{connect: func(ctx context.Context) (*pgx.Conn, error) {
		fresh := config.Copy()
		if err := o.password(fresh); err != nil {
			return nil, err
		}
		return pgx.ConnectConfig(ctx, fresh)
	}, tell: s.watchers.tell}
	first, err := l.listen(ctx)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, err), db.Close())
	}
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var running sync.WaitGroup
	running.Go(func() { l.run(life, first) })
	s.stop = func() { cancel(); running.Wait() }
	return s, nil
}

// open makes a pool of at most that many connections.
func (o PostgresOptions) open(config *pgx.ConnConfig, most int) *pool {
	db := stdlib.OpenDB(*config, stdlib.OptionBeforeConnect(func(_ context.Context, c *pgx.ConnConfig) error { return o.password(c) }))
	db.SetConnMaxIdleTime(idleFor)
	db.SetConnMaxLifetime(connectionAge)
	return newPool(db, most)
}

func postgresDialect() *dialect {
	return &dialect{
		name:     "postgres",
		share:    " FOR SHARE",
		lock:     `SELECT pg_advisory_xact_lock(` + migrationLock + `)`,
		numbers:  "OVERRIDING SYSTEM VALUE ",
		counter:  `SELECT setval(pg_get_serial_sequence('events', 'seq'), (SELECT COALESCE(MAX(seq), 0) + 1 FROM events), false)`,
		reading:  sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead},
		announce: notify,
		scrub:    scrubTables,
	}
}

// scrubTables writes the tables with secrets anew. The server's own log has their earlier
// state until it is recycled.
func scrubTables(ctx context.Context, db *sql.DB) error {
	for _, table := range []string{"clusters", "infra_envs"} {
		if _, err := db.ExecContext(ctx, `VACUUM FULL `+table); err != nil {
			return err
		}
	}
	return nil
}

// migrationLock is the number of the lock that a program holds while it changes
// the tables; nothing else in the database uses it.
const migrationLock = "4711190001"

// CheckPostgresURL refuses an address that cannot work or that holds a password.
func CheckPostgresURL(address string) error {
	_, err := PostgresOptions{URL: address}.config()
	return err
}

// config reads the address. Its errors never repeat the address.
func (o PostgresOptions) config() (*pgx.ConnConfig, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("its address is not a URL such as postgres://USER@HOST:5432/DATABASE")
	}
	q := u.Query()
	if _, set := u.User.Password(); set || q.Has("password") {
		return nil, errors.New("its address holds a password, which others can see; put it into a file, or into PGPASSWORD")
	}
	if !q.Has("sslmode") && !local(cmp.Or(q.Get("host"), u.Hostname())) {
		q.Set("sslmode", "verify-full")
		u.RawQuery = q.Encode()
	}
	config, err := pgx.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("its address cannot be read: %w", err)
	}
	config.ConnectTimeout = cmp.Or(config.ConnectTimeout, connectTime)
	for name, value := range map[string]string{
		"application_name": "ironflow", "statement_timeout": "30s", "lock_timeout": "10s", "idle_in_transaction_session_timeout": "60s",
	} {
		if _, set := config.RuntimeParams[name]; !set {
			config.RuntimeParams[name] = value
		}
	}
	return config, nil
}

// local reports whether the host is this machine: a folder of a socket, or loopback.
func local(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || strings.HasPrefix(host, "/") || host == "localhost" || ip != nil && ip.IsLoopback()
}

// password reads the password's file, if there is one.
func (o PostgresOptions) password(c *pgx.ConnConfig) error {
	if o.PasswordFile == "" {
		return nil
	}
	raw, err := os.ReadFile(o.PasswordFile)
	if err != nil {
		return fmt.Errorf("password of the database: %w", err)
	}
	c.Password = string(bytes.TrimRight(raw, "\r\n"))
	return nil
}
