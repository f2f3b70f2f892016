package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"
)

// migrationFiles are applied in the order of their names, each once and as a
// whole. A file that has been released is never changed; write a new one. One
// with a database's name before .sql is for that database only.
//
//go:embed migrations/*.sql
var migrationFiles embed.FS

// newest stands for the newest version of the tables.
const newest = math.MaxInt64

// migration is one step from a version of the tables to the next.
type migration struct {
	name    string
	version int64
}

// migrate brings the tables up to date, or leaves them as they are.
func (s *sqlStore) migrate(ctx context.Context) error {
	return s.inTx(ctx, s.write, nil, func(t *tx) error { return t.migrate(newest) })
}

// migrate takes the tables to their newest version, but not beyond upTo.
func (t *tx) migrate(upTo int64) error {
	steps, err := migrations(t.dialect.name)
	if err != nil {
		return err
	}
	if t.dialect.lock != "" { // several programs may start at the same time
		if err := t.exec("wait for other programs", t.dialect.lock); err != nil {
			return err
		}
	}
	if err := t.exec("migrate", `CREATE TABLE IF NOT EXISTS schema_version (version BIGINT PRIMARY KEY)`); err != nil {
		return err
	}
	have, err := t.tablesVersion()
	if err != nil {
		return err
	}
	if last := steps[len(steps)-1].version; have > last {
		return fmt.Errorf("its tables have version %d, this program knows %d: start the newer program, or restore a backup", have, last)
	}
	for _, m := range steps {
		if m.version <= have || m.version > upTo {
			continue
		}
		if err := t.apply(m); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// tablesVersion is the version that the tables have.
func (r *Reader) tablesVersion() (have int64, err error) {
	err = r.scanRow("the tables' version", `SELECT COALESCE(MAX(version), 0) FROM schema_version`, nil, &have)
	return have, err
}

// migrations are the steps for a database, in order.
func migrations(database string) ([]migration, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	var out []migration
	for _, name := range names {
		parts := strings.Split(strings.TrimPrefix(name, "migrations/"), ".")
		if len(parts) == 3 && parts[1] != database {
			continue
		}
		number, _, _ := strings.Cut(parts[0], "_")
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: its name must begin with a number: %w", name, err)
		}
		out = append(out, migration{name, version})
	}
	return out, nil
}

func (t *tx) apply(m migration) error {
	script, err := migrationFiles.ReadFile(m.name)
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(string(script), ";") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := t.exec("migrate", statement); err != nil {
			return err
		}
	}
	return t.exec("migrate", `INSERT INTO schema_version (version) VALUES ($1)`, m.version)
}
